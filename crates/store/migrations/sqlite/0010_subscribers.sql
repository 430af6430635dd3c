-- Subscribers of status pages. Addresses and URLs are sealed; `digest` tells with a key whether two are
-- one. Who ended is stored nowhere, and who did not confirm is not for long.

CREATE TABLE subscribers (
    id                 TEXT PRIMARY KEY,
    workspace_id       TEXT NOT NULL REFERENCES workspaces (id),
    page_id            TEXT NOT NULL REFERENCES pages (id),
    kind               TEXT NOT NULL,
    digest             BLOB NOT NULL,
    sealed             BLOB NOT NULL,
    language           TEXT NOT NULL,
    hears_reports      INTEGER NOT NULL,
    hears_maintenance  INTEGER NOT NULL,
    hears_incidents    INTEGER NOT NULL,
    all_components     INTEGER NOT NULL,
    created_at         INTEGER NOT NULL,
    asked_at           INTEGER NOT NULL,
    confirmed_at       INTEGER,
    UNIQUE (page_id, digest)
) STRICT, WITHOUT ROWID;
CREATE INDEX subscribers_by_workspace ON subscribers (workspace_id, id);
CREATE INDEX subscribers_by_page ON subscribers (page_id, id);
CREATE INDEX subscribers_pending ON subscribers (asked_at) WHERE confirmed_at IS NULL;

-- Of those that do not hear of all; one whose components were all deleted hears of none.
CREATE TABLE subscriber_components (
    subscriber  TEXT NOT NULL REFERENCES subscribers (id) ON DELETE CASCADE,
    component   TEXT NOT NULL REFERENCES components (id) ON DELETE CASCADE,
    PRIMARY KEY (subscriber, component)
) STRICT, WITHOUT ROWID;
CREATE INDEX subscriber_components_by_component ON subscriber_components (component);

-- What pages are told goes to them first (`deliveries.channel` is the page's identifier), and from there
-- to each subscriber (it is the subscriber's). Both are in order by `thread`, which no delivery to a
-- channel has: those are in order by their monitor.
ALTER TABLE deliveries ADD COLUMN thread TEXT;
CREATE INDEX deliveries_in_thread ON deliveries (channel, thread, number)
    WHERE state = 'waiting' AND thread IS NOT NULL;

-- Until when beginnings and ends of maintenance were told; one row.
CREATE TABLE maintenance_told (
    one       INTEGER PRIMARY KEY CHECK (one = 1),
    until_at  INTEGER NOT NULL
) STRICT;
CREATE INDEX maintenance_windows_by_beginning ON maintenance_windows (from_at);
