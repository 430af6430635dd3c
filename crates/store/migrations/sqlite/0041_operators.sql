-- Workspaces of the server's operator manage what all workspaces share, such as probes. The first workspace is one.
ALTER TABLE workspaces ADD COLUMN is_operator INTEGER NOT NULL DEFAULT 0;
UPDATE workspaces SET is_operator = 1 WHERE id = (SELECT MIN(id) FROM workspaces WHERE deleted_at IS NULL);
