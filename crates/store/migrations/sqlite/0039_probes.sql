-- Probes in other places, and the regions that they serve. The server itself serves the other regions.

-- Results name their probe by number. Deleted probes keep theirs.
ALTER TABLE probes RENAME TO probe_names;

-- `token_hash` is the SHA-256 of the token. After a rotation, the previous token stays valid until `previous_until`, or
-- until the new one is used for the first time. `version` and `address` are those of the last connection.
CREATE TABLE probes (
    id                   TEXT PRIMARY KEY,
    name                 TEXT NOT NULL UNIQUE,
    token_hash           BLOB NOT NULL UNIQUE,
    previous_token_hash  BLOB,
    previous_until       INTEGER,
    created_at           INTEGER NOT NULL,
    last_seen_at         INTEGER,
    version              TEXT,
    address              TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE probe_regions (
    region    TEXT PRIMARY KEY,
    probe_id  TEXT NOT NULL REFERENCES probes (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX probe_regions_by_probe ON probe_regions (probe_id);
