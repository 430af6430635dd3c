-- Certificates and their accounts, as `../sqlite/0011_certificates.sql` says it.

CREATE TABLE acme_accounts (
    directory   TEXT COLLATE "C" PRIMARY KEY,
    sealed      BYTEA NOT NULL,
    created_at  BIGINT NOT NULL
);

CREATE TABLE certificates (
    domain       TEXT COLLATE "C" PRIMARY KEY,
    chain        TEXT,
    key_sealed   BYTEA,
    issued_at    BIGINT,
    expires_at   BIGINT,
    renew_at     BIGINT,
    tries        BIGINT NOT NULL,
    last_error   TEXT,
    next_try_at  BIGINT
);
