-- What the first migration of main wrote, as a dump.
BEGIN TRANSACTION;
CREATE TABLE audit (
    number        INTEGER PRIMARY KEY,
    workspace_id  TEXT NOT NULL,
    at            INTEGER NOT NULL,
    actor         TEXT NOT NULL,
    action        TEXT NOT NULL,
    resource_id   TEXT NOT NULL,
    detail        TEXT NOT NULL
) STRICT;
INSERT INTO "audit" VALUES(1,'ws_0000000000001',5,'command line','workspace.create','ws_0000000000001','acme');
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
CREATE TABLE idempotency_keys (
    workspace_id  TEXT NOT NULL,
    method        TEXT NOT NULL,
    hash          BLOB NOT NULL,
    result_id     TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, method, hash)
) STRICT, WITHOUT ROWID;
CREATE TABLE incidents (
    id            TEXT PRIMARY KEY,
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id),
    monitor       INTEGER NOT NULL REFERENCES monitors (number),
    opened_at     INTEGER NOT NULL,
    closed_at     INTEGER,
    closed_how    TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO "incidents" VALUES('inc_0000000000001','ws_0000000000001',1,60500,70500,'recovered');
CREATE TABLE judge_states (
    monitor  INTEGER PRIMARY KEY REFERENCES monitors (number),
    status   TEXT NOT NULL,
    since    INTEGER NOT NULL,
    history  TEXT NOT NULL
) STRICT;
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
CREATE TABLE migrations (version INTEGER PRIMARY KEY, checksum BLOB NOT NULL) STRICT;
INSERT INTO "migrations" VALUES(1,X'537129602EDDDB93EF32A923C53E5DCBC732E16F65FA467B8A8B3F68CDA73BE6');
CREATE TABLE missed (
    monitor     INTEGER NOT NULL,
    region      INTEGER NOT NULL,
    first_slot  INTEGER NOT NULL,
    last_slot   INTEGER NOT NULL,
    slots       INTEGER NOT NULL,
    PRIMARY KEY (monitor, region, first_slot)
) STRICT, WITHOUT ROWID;
INSERT INTO "missed" VALUES(1,0,120000,180000,2);
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
INSERT INTO "monitors" VALUES(1,'mon_0000000000001','ws_0000000000001',1,'tcp','db','1m',45000,NULL,3,0,0,NULL,'',NULL,5,5,9);
CREATE TABLE probes (
    number  INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO "probes" VALUES(1,'embedded');
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
INSERT INTO "results" VALUES(60000,1,0,0,1,0,12,9000,200,1,1,NULL);
CREATE TABLE status_changes (
    number       INTEGER PRIMARY KEY,
    monitor      INTEGER NOT NULL REFERENCES monitors (number),
    at           INTEGER NOT NULL,
    from_status  TEXT NOT NULL,
    to_status    TEXT NOT NULL,
    UNIQUE (monitor, at, to_status)
) STRICT;
INSERT INTO "status_changes" VALUES(1,1,60500,'unknown','error');
CREATE TABLE vault (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    canary  BLOB NOT NULL
) STRICT;
INSERT INTO "vault" VALUES(1,X'010FC80A163824AE84AA94125BE9F174A44D5D0A26B1C08FFF05B2897A6D888F67C8D59C94A0BC60599FFE4DF3DDC6249B5CD034');
CREATE TABLE workspaces (
    id          TEXT PRIMARY KEY,
    slug        TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    plan        TEXT NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "workspaces" VALUES('ws_0000000000001','acme','Acme','free',5);
CREATE INDEX keys_by_workspace ON keys (workspace_id, id);
CREATE INDEX monitors_by_workspace ON monitors (workspace_id, id) WHERE deleted_at IS NULL;
CREATE INDEX monitors_deleted ON monitors (number) WHERE deleted_at IS NOT NULL;
CREATE UNIQUE INDEX incidents_open ON incidents (monitor) WHERE closed_at IS NULL;
CREATE INDEX incidents_by_monitor ON incidents (monitor, opened_at);
CREATE INDEX evidence_by_time ON evidence (slot);
CREATE UNIQUE INDEX evidence_of_success ON evidence (monitor, region) WHERE outcome = 0;
CREATE INDEX missed_by_time ON missed (last_slot);
CREATE INDEX idempotency_keys_by_time ON idempotency_keys (created_at);
CREATE INDEX audit_by_workspace ON audit (workspace_id, number);
COMMIT;
