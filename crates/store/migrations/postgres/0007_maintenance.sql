-- Planned maintenance, as `../sqlite/0007_maintenance.sql` says it.

CREATE TABLE maintenances (
    id             TEXT COLLATE "C" PRIMARY KEY,
    workspace_id   TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    title          TEXT NOT NULL,
    description    TEXT,
    starts_at      BIGINT NOT NULL,
    duration       TEXT NOT NULL,
    time_zone      TEXT NOT NULL,
    recurrence     TEXT,
    windows_until  BIGINT,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    deleted_at     BIGINT
);
CREATE INDEX maintenances_by_workspace ON maintenances (workspace_id, id) WHERE deleted_at IS NULL;

CREATE TABLE maintenance_monitors (
    maintenance  TEXT COLLATE "C" NOT NULL REFERENCES maintenances (id),
    monitor      BIGINT NOT NULL REFERENCES monitors (number),
    PRIMARY KEY (maintenance, monitor)
);
CREATE INDEX maintenance_monitors_by_monitor ON maintenance_monitors (monitor);

CREATE TABLE maintenance_components (
    maintenance  TEXT COLLATE "C" NOT NULL REFERENCES maintenances (id),
    component    TEXT COLLATE "C" NOT NULL REFERENCES components (id),
    PRIMARY KEY (maintenance, component)
);
CREATE INDEX maintenance_components_by_component ON maintenance_components (component);

CREATE TABLE maintenance_covers (
    maintenance  TEXT COLLATE "C" NOT NULL REFERENCES maintenances (id),
    monitor      BIGINT NOT NULL REFERENCES monitors (number),
    since        BIGINT NOT NULL,
    until        BIGINT,
    PRIMARY KEY (maintenance, monitor, since)
);
CREATE INDEX maintenance_covers_by_monitor ON maintenance_covers (monitor);

CREATE TABLE maintenance_windows (
    maintenance  TEXT COLLATE "C" NOT NULL REFERENCES maintenances (id),
    from_at      BIGINT NOT NULL,
    until_at     BIGINT NOT NULL,
    PRIMARY KEY (maintenance, from_at)
);
CREATE INDEX maintenance_windows_by_end ON maintenance_windows (until_at);
