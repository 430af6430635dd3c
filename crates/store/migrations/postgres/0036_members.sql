-- Invitations, last sign-ins, places of use, planned deletions and changed fields, as `../sqlite/0036_members.sql`
-- describes.

ALTER TABLE users ADD COLUMN last_sign_in_at BIGINT;
UPDATE users SET last_sign_in_at = (SELECT MAX(s.created_at) FROM sessions s WHERE s.user_id = users.id);
ALTER TABLE keys ADD COLUMN created_by TEXT;
ALTER TABLE keys ADD COLUMN last_used_from TEXT;
ALTER TABLE workspaces ADD COLUMN deletes_at BIGINT;
ALTER TABLE audit ADD COLUMN address TEXT;
ALTER TABLE audit ADD COLUMN changes_sealed BYTEA;

CREATE TABLE invitations (
    id            TEXT COLLATE "C" PRIMARY KEY,
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    hash          BYTEA NOT NULL UNIQUE,
    email_digest  BYTEA,
    email_sealed  BYTEA,
    role          TEXT NOT NULL,
    invited_by    TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL
);
CREATE INDEX invitations_by_workspace ON invitations (workspace_id, id);
CREATE INDEX invitations_by_expiry ON invitations (expires_at);
