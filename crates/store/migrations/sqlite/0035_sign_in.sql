-- Second factors, recovery codes, passkeys, links for new passwords, and identities of single sign-on. A user who only
-- signs in with single sign-on has no password: `users.password_hash` is empty.

-- Secret of an authenticator app, sealed. `last_step` is the step of the newest accepted code (RFC 6238), so that no code
-- is accepted twice.
CREATE TABLE second_factors (
    user_id        TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    secret_sealed  BLOB NOT NULL,
    last_step      INTEGER NOT NULL,
    created_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Codes that were not used yet. `hash` is a SHA-256 with a key.
CREATE TABLE recovery_codes (
    user_id  TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash     BLOB NOT NULL,
    PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;

-- `public_key` and `state` are encoded by the library of WebAuthn.
CREATE TABLE passkeys (
    id             TEXT PRIMARY KEY,
    user_id        TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    credential_id  BLOB NOT NULL UNIQUE,
    public_key     BLOB NOT NULL,
    state          BLOB NOT NULL,
    name           TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    last_used_at   INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_by_user ON passkeys (user_id, id);

-- `hash` is the SHA-256 of the token in the link. Used and expired links stay for a day, to say so.
CREATE TABLE reset_links (
    hash        BLOB PRIMARY KEY,
    user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at  INTEGER NOT NULL,
    expires_at  INTEGER NOT NULL,
    used_at     INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX reset_links_by_user ON reset_links (user_id);
CREATE INDEX reset_links_by_expiry ON reset_links (expires_at);

-- Account at a provider of single sign-on.
CREATE TABLE identities (
    issuer      TEXT NOT NULL,
    subject     TEXT NOT NULL,
    user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_by_user ON identities (user_id);
