-- Invitations to workspaces, the last sign-in of users, the author and the last place of use of keys, the planned
-- deletion of workspaces, and the origin and the changed fields of audit entries.

ALTER TABLE users ADD COLUMN last_sign_in_at INTEGER;
UPDATE users SET last_sign_in_at = (SELECT MAX(s.created_at) FROM sessions s WHERE s.user_id = users.id);
ALTER TABLE keys ADD COLUMN created_by TEXT;
ALTER TABLE keys ADD COLUMN last_used_from TEXT;
ALTER TABLE workspaces ADD COLUMN deletes_at INTEGER;
ALTER TABLE audit ADD COLUMN address TEXT;
ALTER TABLE audit ADD COLUMN changes_sealed BLOB;

-- `hash` is the SHA-256 of the token in the link. `email_digest` is that of `users`; without an address, anybody with
-- the link may accept. `invited_by` is an actor of the audit log.
CREATE TABLE invitations (
    id            TEXT PRIMARY KEY,
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id),
    hash          BLOB NOT NULL UNIQUE,
    email_digest  BLOB,
    email_sealed  BLOB,
    role          TEXT NOT NULL,
    invited_by    TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX invitations_by_workspace ON invitations (workspace_id, id);
CREATE INDEX invitations_by_expiry ON invitations (expires_at);
