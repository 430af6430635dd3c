-- Incidents as people work on them: who took one up, what happened in it, and what each region saw.

ALTER TABLE incidents ADD COLUMN acknowledged_at INTEGER;
ALTER TABLE incidents ADD COLUMN acknowledged_by TEXT;
CREATE INDEX incidents_by_workspace ON incidents (workspace_id, id);

-- What happened in an incident, in its order. `actor` is a key's identifier, or nobody.
CREATE TABLE incident_entries (
    number    INTEGER PRIMARY KEY,
    incident  TEXT NOT NULL REFERENCES incidents (id),
    at        INTEGER NOT NULL,
    kind      TEXT NOT NULL,
    actor     TEXT,
    text      TEXT NOT NULL
) STRICT;
CREATE INDEX incident_entries_by_incident ON incident_entries (incident, number);

-- What a region saw that failed, copied of the evidence, which is kept for a shorter time.
CREATE TABLE incident_evidence (
    incident  TEXT NOT NULL REFERENCES incidents (id),
    region    INTEGER NOT NULL,
    monitor   INTEGER NOT NULL,
    slot      INTEGER NOT NULL,
    trigger   INTEGER NOT NULL,
    revision  INTEGER NOT NULL,
    outcome   INTEGER NOT NULL,
    sealed    BLOB NOT NULL,
    PRIMARY KEY (incident, region)
) STRICT, WITHOUT ROWID;
