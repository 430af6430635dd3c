-- Notification channels. Whom one tells, and how, is encrypted as a whole: addresses and headers carry
-- credentials.

CREATE TABLE channels (
    id               TEXT PRIMARY KEY,
    workspace_id     TEXT NOT NULL REFERENCES workspaces (id),
    kind             TEXT NOT NULL,
    name             TEXT,
    provider_sealed  BLOB NOT NULL,
    created_at       INTEGER NOT NULL,
    updated_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX channels_by_workspace ON channels (workspace_id, id);

-- Which monitors' incidents a channel tells about.
CREATE TABLE channel_monitors (
    channel  TEXT NOT NULL REFERENCES channels (id),
    monitor  INTEGER NOT NULL REFERENCES monitors (number),
    PRIMARY KEY (channel, monitor)
) STRICT, WITHOUT ROWID;
CREATE INDEX channel_monitors_by_monitor ON channel_monitors (monitor);
