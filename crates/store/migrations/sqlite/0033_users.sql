-- People who sign in to the dashboard, their roles, and their sessions. Addresses are sealed;
-- `email_digest` shows with a key whether two are equal. `password_hash` is Argon2id in the PHC format.

CREATE TABLE users (
    id             TEXT PRIMARY KEY,
    email_digest   BLOB NOT NULL UNIQUE,
    email_sealed   BLOB NOT NULL,
    name           TEXT NOT NULL,
    password_hash  TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id),
    user_id       TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    role          TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_by_user ON members (user_id);

-- `hash` is the SHA-256 of the secret in the cookie.
CREATE TABLE sessions (
    id            TEXT PRIMARY KEY,
    hash          BLOB NOT NULL UNIQUE,
    user_id       TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at    INTEGER NOT NULL,
    last_used_at  INTEGER NOT NULL,
    expires_at    INTEGER NOT NULL,
    address       TEXT NOT NULL,
    user_agent    TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_by_user ON sessions (user_id);
CREATE INDEX sessions_by_expiry ON sessions (expires_at);
