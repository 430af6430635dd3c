-- URLs and calls of heartbeat monitors, as `../sqlite/0047_heartbeats.sql` describes.
CREATE TABLE heartbeats (
    monitor        BIGINT PRIMARY KEY REFERENCES monitors (number),
    token_hash     BYTEA NOT NULL UNIQUE,
    token_sealed   BYTEA NOT NULL,
    watched_since  BIGINT NOT NULL,
    received_at    BIGINT,
    succeeded_at   BIGINT,
    failed_at      BIGINT,
    exit_code      BIGINT,
    started_at     BIGINT,
    unended_since  BIGINT
);
