-- Incidents as people work on them: who took one up, what happened in it, and what each region saw.

-- Who did something is a key's identifier or `command line`, with the name that the key had then.
-- `resolving_by` is who last asked that it be resolved; the judge closes it.
ALTER TABLE incidents ADD COLUMN acknowledged_at INTEGER;
ALTER TABLE incidents ADD COLUMN acknowledged_by TEXT;
ALTER TABLE incidents ADD COLUMN acknowledged_name TEXT;
ALTER TABLE incidents ADD COLUMN resolving_by TEXT;
ALTER TABLE incidents ADD COLUMN resolving_name TEXT;
CREATE INDEX incidents_by_workspace ON incidents (workspace_id, id);
CREATE INDEX events_by_incident ON events (incident) WHERE incident IS NOT NULL;

-- What happened in an incident, in its order. The kinds are the words of `src/incidents/timeline.rs`;
-- `text` is what belongs to the kind: a comment, a region, what closed it.
CREATE TABLE incident_entries (
    number      INTEGER PRIMARY KEY,
    incident    TEXT NOT NULL REFERENCES incidents (id),
    at          INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    actor       TEXT,
    actor_name  TEXT,
    text        TEXT NOT NULL
) STRICT;
CREATE INDEX incident_entries_by_incident ON incident_entries (incident, number);

INSERT INTO incident_entries (incident, at, kind, text)
    SELECT id, opened_at, 'opened', '' FROM incidents ORDER BY id;
INSERT INTO incident_entries (incident, at, kind, text)
    SELECT id, closed_at, 'closed', closed_how FROM incidents
    WHERE closed_at IS NOT NULL AND closed_how IS NOT NULL ORDER BY id;

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
