-- Figures of past months, which never change; who wants a summary of them; and write-ups of incidents.

-- A month whose figures are complete. `month` is such as `2026-11`, in UTC.
CREATE TABLE frozen_months (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id),
    month         TEXT NOT NULL,
    frozen_at     INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, month)
) STRICT, WITHOUT ROWID;

-- Figures of a monitor or a status page, as it was named then. `known_ms` is 0 if nothing was known.
-- `latency` is the distribution of `domain::history`.
CREATE TABLE month_figures (
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id),
    month         TEXT NOT NULL,
    subject_id    TEXT NOT NULL,
    name          TEXT NOT NULL,
    known_ms      INTEGER NOT NULL,
    error_ms      INTEGER NOT NULL,
    incidents     INTEGER NOT NULL,
    latency       BLOB NOT NULL,
    PRIMARY KEY (workspace_id, month, subject_id)
) STRICT, WITHOUT ROWID;

-- The last month of which the member got a summary. NULL if the member wants none.
ALTER TABLE members ADD COLUMN summary_month TEXT;

-- Text about an incident in Markdown. `report_id` is the status report that it became.
CREATE TABLE incident_write_ups (
    incident    TEXT PRIMARY KEY REFERENCES incidents (id),
    text        TEXT NOT NULL,
    report_id   TEXT,
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
