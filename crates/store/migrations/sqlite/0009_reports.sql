-- Status reports: what people say of an outage on a status page, update by update.

-- Status and times are those of its updates, written again with each of them.
CREATE TABLE reports (
    id            TEXT PRIMARY KEY,
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id),
    page_id       TEXT NOT NULL REFERENCES pages (id),
    title         TEXT NOT NULL,
    status        TEXT NOT NULL,
    started_at    INTEGER NOT NULL,
    latest_at     INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX reports_by_workspace ON reports (workspace_id, id);
CREATE INDEX reports_by_page ON reports (page_id, latest_at);

-- The latest is the last by time, and of one time by identifier.
CREATE TABLE report_updates (
    id          TEXT PRIMARY KEY,
    report      TEXT NOT NULL REFERENCES reports (id),
    status      TEXT NOT NULL,
    text        TEXT NOT NULL,
    at          INTEGER NOT NULL,
    notified    INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX report_updates_by_report ON report_updates (report, at, id);

-- What an update says of components, until the next one.
CREATE TABLE report_impacts (
    report_update  TEXT NOT NULL REFERENCES report_updates (id),
    component      TEXT NOT NULL REFERENCES components (id),
    impact         TEXT NOT NULL,
    PRIMARY KEY (report_update, component)
) STRICT, WITHOUT ROWID;
CREATE INDEX report_impacts_by_component ON report_impacts (component);

-- What reports may begin with.
CREATE TABLE report_templates (
    id            TEXT PRIMARY KEY,
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id),
    name          TEXT NOT NULL,
    title         TEXT,
    status        TEXT,
    text          TEXT,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX report_templates_by_workspace ON report_templates (workspace_id, id);

CREATE TABLE report_template_impacts (
    template   TEXT NOT NULL REFERENCES report_templates (id),
    component  TEXT NOT NULL REFERENCES components (id),
    impact     TEXT NOT NULL,
    PRIMARY KEY (template, component)
) STRICT, WITHOUT ROWID;
CREATE INDEX report_template_impacts_by_component ON report_template_impacts (component);
