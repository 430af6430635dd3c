-- Figures of past months, as `../sqlite/0037_uptime_reports.sql` describes.

CREATE TABLE frozen_months (
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    month         TEXT COLLATE "C" NOT NULL,
    frozen_at     BIGINT NOT NULL,
    PRIMARY KEY (workspace_id, month)
);

CREATE TABLE month_figures (
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    month         TEXT COLLATE "C" NOT NULL,
    subject_id    TEXT COLLATE "C" NOT NULL,
    name          TEXT NOT NULL,
    known_ms      BIGINT NOT NULL,
    error_ms      BIGINT NOT NULL,
    incidents     BIGINT NOT NULL,
    latency       BYTEA NOT NULL,
    PRIMARY KEY (workspace_id, month, subject_id)
);

ALTER TABLE members ADD COLUMN summary_month TEXT COLLATE "C";

CREATE TABLE incident_write_ups (
    incident    TEXT COLLATE "C" PRIMARY KEY REFERENCES incidents (id),
    text        TEXT NOT NULL,
    report_id   TEXT COLLATE "C",
    updated_at  BIGINT NOT NULL
);
