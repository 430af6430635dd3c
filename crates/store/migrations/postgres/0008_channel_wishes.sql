-- What a channel wants to hear and when, as `../sqlite/0008_channel_wishes.sql` says it.

ALTER TABLE channels ADD COLUMN wishes TEXT;

CREATE TABLE signing_secrets (
    id            TEXT COLLATE "C" PRIMARY KEY,
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    sealed        BYTEA NOT NULL,
    created_at    BIGINT NOT NULL,
    expires_at    BIGINT
);
CREATE INDEX signing_secrets_by_workspace ON signing_secrets (workspace_id, created_at);
