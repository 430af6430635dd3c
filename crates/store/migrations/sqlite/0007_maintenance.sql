-- Planned maintenance: once, or again and again. Its windows are written ahead, so that whether one is
-- on is a question for an index; those that have passed stay as they were, also when it is edited or
-- deleted, because uptime was counted without them. All that begin before `windows_until` are written;
-- NULL, where none begins later.

CREATE TABLE maintenances (
    id             TEXT PRIMARY KEY,
    workspace_id   TEXT NOT NULL REFERENCES workspaces (id),
    title          TEXT NOT NULL,
    description    TEXT,
    starts_at      INTEGER NOT NULL,
    duration       TEXT NOT NULL,
    time_zone      TEXT NOT NULL,
    recurrence     TEXT,
    windows_until  INTEGER,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    deleted_at     INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX maintenances_by_workspace ON maintenances (workspace_id, id) WHERE deleted_at IS NULL;

CREATE TABLE maintenance_monitors (
    maintenance  TEXT NOT NULL REFERENCES maintenances (id),
    monitor      INTEGER NOT NULL REFERENCES monitors (number),
    PRIMARY KEY (maintenance, monitor)
) STRICT, WITHOUT ROWID;
CREATE INDEX maintenance_monitors_by_monitor ON maintenance_monitors (monitor);

CREATE TABLE maintenance_components (
    maintenance  TEXT NOT NULL REFERENCES maintenances (id),
    component    TEXT NOT NULL REFERENCES components (id),
    PRIMARY KEY (maintenance, component)
) STRICT, WITHOUT ROWID;
CREATE INDEX maintenance_components_by_component ON maintenance_components (component);

-- Whom it covers, of itself or through a component that shows it, and for how long that was so: what
-- components show is changed, and uptime was counted with what they showed then.
CREATE TABLE maintenance_covers (
    maintenance  TEXT NOT NULL REFERENCES maintenances (id),
    monitor      INTEGER NOT NULL REFERENCES monitors (number),
    since        INTEGER NOT NULL,
    until        INTEGER,
    PRIMARY KEY (maintenance, monitor, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX maintenance_covers_by_monitor ON maintenance_covers (monitor);

-- Windows of one maintenance do not overlap.
CREATE TABLE maintenance_windows (
    maintenance  TEXT NOT NULL REFERENCES maintenances (id),
    from_at      INTEGER NOT NULL,
    until_at     INTEGER NOT NULL,
    PRIMARY KEY (maintenance, from_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX maintenance_windows_by_end ON maintenance_windows (until_at);
