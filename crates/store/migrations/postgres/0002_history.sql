-- History, as `../sqlite/0002_history.sql` says it.

CREATE TABLE result_blocks (
    key   BIGINT PRIMARY KEY,
    body  BYTEA NOT NULL
);

CREATE TABLE hour_sums (
    key   BIGINT PRIMARY KEY,
    body  BYTEA NOT NULL
);

CREATE TABLE day_sums (
    key   BIGINT PRIMARY KEY,
    body  BYTEA NOT NULL
);

ALTER TABLE workspaces ADD COLUMN results_kept_days BIGINT;
ALTER TABLE workspaces ADD COLUMN blocks_kept_from BIGINT;
