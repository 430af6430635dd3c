-- Workspaces of the operator, as `../sqlite/0041_operators.sql` describes.
ALTER TABLE workspaces ADD COLUMN is_operator BIGINT NOT NULL DEFAULT 0;
UPDATE workspaces SET is_operator = 1 WHERE id = (SELECT MIN(id) FROM workspaces WHERE deleted_at IS NULL);
