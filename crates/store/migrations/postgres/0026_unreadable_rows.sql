-- Rows of other tables whose bytes cannot be read, with their table, their key there and the reason. They make
-- room for rows that can be read, and wait here for `aloft doctor`.

CREATE TABLE unreadable_rows (
    source  TEXT NOT NULL,
    key     BIGINT NOT NULL,
    why     TEXT NOT NULL,
    body    BYTEA NOT NULL,
    PRIMARY KEY (source, key)
);
