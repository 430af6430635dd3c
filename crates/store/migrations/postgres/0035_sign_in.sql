-- Second factors, recovery codes, passkeys, links for new passwords and identities, as `../sqlite/0035_sign_in.sql`
-- describes.

CREATE TABLE second_factors (
    user_id        TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    secret_sealed  BYTEA NOT NULL,
    last_step      BIGINT NOT NULL,
    created_at     BIGINT NOT NULL
);

CREATE TABLE recovery_codes (
    user_id  TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash     BYTEA NOT NULL,
    PRIMARY KEY (user_id, hash)
);

CREATE TABLE passkeys (
    id             TEXT COLLATE "C" PRIMARY KEY,
    user_id        TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    credential_id  BYTEA NOT NULL UNIQUE,
    public_key     BYTEA NOT NULL,
    state          BYTEA NOT NULL,
    name           TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    last_used_at   BIGINT
);
CREATE INDEX passkeys_by_user ON passkeys (user_id, id);

CREATE TABLE reset_links (
    hash        BYTEA PRIMARY KEY,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at  BIGINT NOT NULL,
    expires_at  BIGINT NOT NULL,
    used_at     BIGINT
);
CREATE INDEX reset_links_by_user ON reset_links (user_id);
CREATE INDEX reset_links_by_expiry ON reset_links (expires_at);

CREATE TABLE identities (
    issuer      TEXT COLLATE "C" NOT NULL,
    subject     TEXT COLLATE "C" NOT NULL,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    created_at  BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);
CREATE INDEX identities_by_user ON identities (user_id);
