-- Rows of other tables whose bytes cannot be read, with their table, their key there and the reason. They make
-- room for rows that can be read, and wait here for `aloft doctor`.

CREATE TABLE unreadable_rows (
    source  TEXT NOT NULL,
    key     INTEGER NOT NULL,
    why     TEXT NOT NULL,
    body    BLOB NOT NULL,
    PRIMARY KEY (source, key)
) STRICT;
