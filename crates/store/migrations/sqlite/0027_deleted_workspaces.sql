-- When a workspace was deleted. Its row stays for the audit and for what its monitors showed; its slug is free.

ALTER TABLE workspaces ADD COLUMN deleted_at INTEGER;
