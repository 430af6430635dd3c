-- Notification channels, as `../sqlite/0003_channels.sql` says it.

CREATE TABLE channels (
    id               TEXT COLLATE "C" PRIMARY KEY,
    workspace_id     TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    kind             TEXT NOT NULL,
    name             TEXT,
    provider_sealed  BYTEA NOT NULL,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL
);
CREATE INDEX channels_by_workspace ON channels (workspace_id, id);

CREATE TABLE channel_monitors (
    channel  TEXT COLLATE "C" NOT NULL REFERENCES channels (id),
    monitor  BIGINT NOT NULL REFERENCES monitors (number),
    PRIMARY KEY (channel, monitor)
);
CREATE INDEX channel_monitors_by_monitor ON channel_monitors (monitor);
