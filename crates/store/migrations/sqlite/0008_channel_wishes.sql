-- What a channel wants to hear and when, and the secrets that a workspace's webhooks are signed with.

-- JSON; NULL is all by default.
ALTER TABLE channels ADD COLUMN wishes TEXT;

-- The newest signs; one that was replaced signs too until it expires.
CREATE TABLE signing_secrets (
    id            TEXT PRIMARY KEY,
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id),
    sealed        BLOB NOT NULL,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX signing_secrets_by_workspace ON signing_secrets (workspace_id, created_at);
