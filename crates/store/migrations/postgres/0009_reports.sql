-- Status reports, as `../sqlite/0009_reports.sql` says it.

CREATE TABLE reports (
    id            TEXT COLLATE "C" PRIMARY KEY,
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    page_id       TEXT COLLATE "C" NOT NULL REFERENCES pages (id),
    title         TEXT NOT NULL,
    status        TEXT NOT NULL,
    started_at    BIGINT NOT NULL,
    latest_at     BIGINT NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL
);
CREATE INDEX reports_by_workspace ON reports (workspace_id, id);
CREATE INDEX reports_by_page ON reports (page_id, latest_at);

CREATE TABLE report_updates (
    id          TEXT COLLATE "C" PRIMARY KEY,
    report      TEXT COLLATE "C" NOT NULL REFERENCES reports (id),
    status      TEXT NOT NULL,
    text        TEXT NOT NULL,
    at          BIGINT NOT NULL,
    notified    BOOLEAN NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX report_updates_by_report ON report_updates (report, at, id);

CREATE TABLE report_impacts (
    report_update  TEXT COLLATE "C" NOT NULL REFERENCES report_updates (id),
    component      TEXT COLLATE "C" NOT NULL REFERENCES components (id),
    impact         TEXT NOT NULL,
    PRIMARY KEY (report_update, component)
);
CREATE INDEX report_impacts_by_component ON report_impacts (component);

CREATE TABLE report_templates (
    id            TEXT COLLATE "C" PRIMARY KEY,
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    name          TEXT NOT NULL,
    title         TEXT,
    status        TEXT,
    text          TEXT,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL
);
CREATE INDEX report_templates_by_workspace ON report_templates (workspace_id, id);

CREATE TABLE report_template_impacts (
    template   TEXT COLLATE "C" NOT NULL REFERENCES report_templates (id),
    component  TEXT COLLATE "C" NOT NULL REFERENCES components (id),
    impact     TEXT NOT NULL,
    PRIMARY KEY (template, component)
);
CREATE INDEX report_template_impacts_by_component ON report_template_impacts (component);
