-- Probes of a workspace serve its private regions, and only its monitors. `workspace_id` is NULL for the probes of the
-- server's operator. A name is unique within a workspace, and among the operator's probes.
CREATE TABLE workspace_probes (
    id                   TEXT PRIMARY KEY,
    workspace_id         TEXT REFERENCES workspaces (id) ON DELETE CASCADE,
    name                 TEXT NOT NULL,
    token_hash           BLOB NOT NULL UNIQUE,
    previous_token_hash  BLOB,
    previous_until       INTEGER,
    created_at           INTEGER NOT NULL,
    last_seen_at         INTEGER,
    version              TEXT,
    address              TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO workspace_probes
    SELECT id, NULL, name, token_hash, previous_token_hash, previous_until, created_at, last_seen_at, version, address
    FROM probes;

-- `workspace_id` is empty for the regions that all workspaces share.
CREATE TABLE workspace_probe_regions (
    workspace_id  TEXT NOT NULL,
    region        TEXT NOT NULL,
    probe_id      TEXT NOT NULL REFERENCES workspace_probes (id) ON DELETE CASCADE,
    PRIMARY KEY (workspace_id, region)
) STRICT, WITHOUT ROWID;
INSERT INTO workspace_probe_regions SELECT '', region, probe_id FROM probe_regions;

DROP TABLE probe_regions;
DROP TABLE probes;
ALTER TABLE workspace_probes RENAME TO probes;
ALTER TABLE workspace_probe_regions RENAME TO probe_regions;
CREATE UNIQUE INDEX probes_by_name ON probes (COALESCE(workspace_id, ''), name);
CREATE INDEX probe_regions_by_probe ON probe_regions (probe_id);
