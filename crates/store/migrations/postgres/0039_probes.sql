-- Probes and their regions, as `../sqlite/0039_probes.sql` describes.

ALTER TABLE probes RENAME TO probe_names;
ALTER INDEX probes_pkey RENAME TO probe_names_pkey;
ALTER INDEX probes_name_key RENAME TO probe_names_name_key;

CREATE TABLE probes (
    id                   TEXT COLLATE "C" PRIMARY KEY,
    name                 TEXT COLLATE "C" NOT NULL UNIQUE,
    token_hash           BYTEA NOT NULL UNIQUE,
    previous_token_hash  BYTEA,
    previous_until       BIGINT,
    created_at           BIGINT NOT NULL,
    last_seen_at         BIGINT,
    version              TEXT,
    address              TEXT
);

CREATE TABLE probe_regions (
    region    TEXT COLLATE "C" PRIMARY KEY,
    probe_id  TEXT COLLATE "C" NOT NULL REFERENCES probes (id) ON DELETE CASCADE
);
CREATE INDEX probe_regions_by_probe ON probe_regions (probe_id);
