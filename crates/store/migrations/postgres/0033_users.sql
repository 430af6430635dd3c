-- People who sign in to the dashboard, as `../sqlite/0033_users.sql` describes.

CREATE TABLE users (
    id             TEXT COLLATE "C" PRIMARY KEY,
    email_digest   BYTEA NOT NULL UNIQUE,
    email_sealed   BYTEA NOT NULL,
    name           TEXT NOT NULL,
    password_hash  TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL
);

CREATE TABLE members (
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    user_id       TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role          TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
);
CREATE INDEX members_by_user ON members (user_id);

CREATE TABLE sessions (
    id            TEXT COLLATE "C" PRIMARY KEY,
    hash          BYTEA NOT NULL UNIQUE,
    user_id       TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at    BIGINT NOT NULL,
    last_used_at  BIGINT NOT NULL,
    expires_at    BIGINT NOT NULL,
    address       TEXT NOT NULL,
    user_agent    TEXT NOT NULL
);
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
