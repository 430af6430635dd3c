-- The first schema: workspaces, keys, monitors, results, verdicts, incidents, audit.
-- Times are milliseconds since 1970. Identifiers are texts with their prefix; in the tables that
-- grow with every check a monitor is its small `number` instead, and region, trigger and outcome
-- are the codes of `src/codes.rs`.

CREATE TABLE vault (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    canary  BLOB NOT NULL
) STRICT;

CREATE TABLE workspaces (
    id          TEXT PRIMARY KEY,
    slug        TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    plan        TEXT NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
    id            TEXT PRIMARY KEY,
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id),
    name          TEXT NOT NULL,
    scope         TEXT,
    hash          BLOB NOT NULL UNIQUE,
    created_at    INTEGER NOT NULL,
    expires_at    INTEGER,
    last_used_at  INTEGER,
    revoked_at    INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX keys_by_workspace ON keys (workspace_id, id);

-- A deleted monitor leaves its row without what was checked, so that its history keeps an owner.
CREATE TABLE monitors (
    number         INTEGER PRIMARY KEY,
    id             TEXT NOT NULL UNIQUE,
    workspace_id   TEXT NOT NULL REFERENCES workspaces (id),
    revision       INTEGER NOT NULL,
    kind           TEXT NOT NULL,
    name           TEXT NOT NULL,
    periodicity    TEXT NOT NULL,
    timeout_ms     INTEGER NOT NULL,
    degraded_at_ms INTEGER,
    retry          INTEGER NOT NULL,
    active         INTEGER NOT NULL,
    public         INTEGER NOT NULL,
    description    TEXT,
    regions        TEXT NOT NULL,
    check_sealed   BLOB,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    deleted_at     INTEGER
) STRICT;
CREATE INDEX monitors_by_workspace ON monitors (workspace_id, id) WHERE deleted_at IS NULL;
CREATE INDEX monitors_deleted ON monitors (number) WHERE deleted_at IS NOT NULL;

CREATE TABLE judge_states (
    monitor  INTEGER PRIMARY KEY REFERENCES monitors (number),
    status   TEXT NOT NULL,
    since    INTEGER NOT NULL,
    history  TEXT NOT NULL
) STRICT;

CREATE TABLE status_changes (
    number       INTEGER PRIMARY KEY,
    monitor      INTEGER NOT NULL REFERENCES monitors (number),
    at           INTEGER NOT NULL,
    from_status  TEXT NOT NULL,
    to_status    TEXT NOT NULL,
    UNIQUE (monitor, at, to_status)
) STRICT;

CREATE TABLE incidents (
    id            TEXT PRIMARY KEY,
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id),
    monitor       INTEGER NOT NULL REFERENCES monitors (number),
    opened_at     INTEGER NOT NULL,
    closed_at     INTEGER,
    closed_how    TEXT
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX incidents_open ON incidents (monitor) WHERE closed_at IS NULL;
CREATE INDEX incidents_by_monitor ON incidents (monitor, opened_at);

CREATE TABLE probes (
    number  INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE
) STRICT;

-- In the order of time: a batch lies on a few pages at the table's end, and retention cuts off the
-- beginning. Of the columns after the key most are integers of one to three bytes.
CREATE TABLE results (
    slot            INTEGER NOT NULL,
    monitor         INTEGER NOT NULL,
    region          INTEGER NOT NULL,
    trigger         INTEGER NOT NULL,
    revision        INTEGER NOT NULL,
    outcome         INTEGER NOT NULL,
    finished_after  INTEGER NOT NULL,
    latency_us      INTEGER NOT NULL,
    status          INTEGER,
    attempts        INTEGER NOT NULL,
    probe           INTEGER NOT NULL,
    phases          BLOB,
    PRIMARY KEY (slot, monitor, region, trigger, revision)
) STRICT, WITHOUT ROWID;

CREATE TABLE evidence (
    number    INTEGER PRIMARY KEY,
    monitor   INTEGER NOT NULL,
    slot      INTEGER NOT NULL,
    region    INTEGER NOT NULL,
    trigger   INTEGER NOT NULL,
    revision  INTEGER NOT NULL,
    outcome   INTEGER NOT NULL,
    sealed    BLOB NOT NULL,
    UNIQUE (monitor, slot, region, trigger, revision)
) STRICT;
CREATE INDEX evidence_by_time ON evidence (slot);
-- One success of each region is kept: the latest.
CREATE UNIQUE INDEX evidence_of_success ON evidence (monitor, region) WHERE outcome = 0;

CREATE TABLE missed (
    monitor     INTEGER NOT NULL,
    region      INTEGER NOT NULL,
    first_slot  INTEGER NOT NULL,
    last_slot   INTEGER NOT NULL,
    slots       INTEGER NOT NULL,
    PRIMARY KEY (monitor, region, first_slot)
) STRICT, WITHOUT ROWID;
CREATE INDEX missed_by_time ON missed (last_slot);

CREATE TABLE idempotency_keys (
    workspace_id  TEXT NOT NULL,
    method        TEXT NOT NULL,
    hash          BLOB NOT NULL,
    result_id     TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, method, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);

CREATE TABLE audit (
    number        INTEGER PRIMARY KEY,
    workspace_id  TEXT NOT NULL,
    at            INTEGER NOT NULL,
    actor         TEXT NOT NULL,
    action        TEXT NOT NULL,
    resource_id   TEXT NOT NULL,
    detail        TEXT NOT NULL
) STRICT;
CREATE INDEX audit_by_workspace ON audit (workspace_id, number);
