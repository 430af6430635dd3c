-- Subscribers of status pages, as `../sqlite/0010_subscribers.sql` says it.

CREATE TABLE subscribers (
    id                 TEXT COLLATE "C" PRIMARY KEY,
    workspace_id       TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    page_id            TEXT COLLATE "C" NOT NULL REFERENCES pages (id),
    kind               TEXT NOT NULL,
    digest             BYTEA NOT NULL,
    sealed             BYTEA NOT NULL,
    language           TEXT NOT NULL,
    hears_reports      BOOLEAN NOT NULL,
    hears_maintenance  BOOLEAN NOT NULL,
    hears_incidents    BOOLEAN NOT NULL,
    all_components     BOOLEAN NOT NULL,
    created_at         BIGINT NOT NULL,
    asked_at           BIGINT NOT NULL,
    confirmed_at       BIGINT,
    UNIQUE (page_id, digest)
);
CREATE INDEX subscribers_by_workspace ON subscribers (workspace_id, id);
CREATE INDEX subscribers_by_page ON subscribers (page_id, id);
CREATE INDEX subscribers_pending ON subscribers (asked_at) WHERE confirmed_at IS NULL;

CREATE TABLE subscriber_components (
    subscriber  TEXT COLLATE "C" NOT NULL REFERENCES subscribers (id) ON DELETE CASCADE,
    component   TEXT COLLATE "C" NOT NULL REFERENCES components (id) ON DELETE CASCADE,
    PRIMARY KEY (subscriber, component)
);
CREATE INDEX subscriber_components_by_component ON subscriber_components (component);

ALTER TABLE deliveries ADD COLUMN thread TEXT COLLATE "C";
CREATE INDEX deliveries_in_thread ON deliveries (channel, thread, number)
    WHERE state = 'waiting' AND thread IS NOT NULL;

CREATE TABLE maintenance_told (
    one       BIGINT PRIMARY KEY CHECK (one = 1),
    until_at  BIGINT NOT NULL
);
CREATE INDEX maintenance_windows_by_beginning ON maintenance_windows (from_at);
