-- Certificates of the names that this server answers to, and the accounts they were asked for with.

-- One account for each ACME server, by its directory.
CREATE TABLE acme_accounts (
    directory   TEXT PRIMARY KEY,
    sealed      BLOB NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- By the name, in A-labels. Without a chain there is no certificate yet; `tries` counts those since the
-- last one that came, and none is made before `next_try_at`.
CREATE TABLE certificates (
    domain       TEXT PRIMARY KEY,
    chain        TEXT,
    key_sealed   BLOB,
    issued_at    INTEGER,
    expires_at   INTEGER,
    renew_at     INTEGER,
    tries        INTEGER NOT NULL,
    last_error   TEXT,
    next_try_at  INTEGER
) STRICT, WITHOUT ROWID;
