-- URLs and calls of heartbeat monitors. `token_hash` is the SHA-256 of the token in the URL, by which a call finds its
-- monitor; `token_sealed` shows the URL to its owner. `watched_since` is the start of the wait. `failed_at` is the failure
-- that no success has followed, `started_at` the start of the run in progress, and `unended_since` the first start that
-- no end has followed. All times are in milliseconds since 1970.
CREATE TABLE heartbeats (
    monitor        INTEGER PRIMARY KEY REFERENCES monitors (number),
    token_hash     BLOB NOT NULL UNIQUE,
    token_sealed   BLOB NOT NULL,
    watched_since  INTEGER NOT NULL,
    received_at    INTEGER,
    succeeded_at   INTEGER,
    failed_at      INTEGER,
    exit_code      INTEGER,
    started_at     INTEGER,
    unended_since  INTEGER
) STRICT;
