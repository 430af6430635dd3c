-- The outbox: what happened, whom it is told, and what came of each try. Rows are written in the
-- transaction of the verdict. Channels are not referenced: they are deleted for good, and what was
-- sent through them stays to be read. The words of a delivery are those of `src/outbox.rs`.

-- What happened, whole and sealed: the monitor may be edited or deleted since. `key` is what makes
-- the same event the same when its batch is tried again. A test has no monitor.
CREATE TABLE events (
    number        INTEGER PRIMARY KEY,
    key           TEXT NOT NULL UNIQUE,
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id),
    monitor       INTEGER REFERENCES monitors (number),
    incident      TEXT,
    kind          TEXT NOT NULL,
    reminder      INTEGER NOT NULL,
    began_at      INTEGER NOT NULL,
    at            INTEGER NOT NULL,
    sealed        BLOB NOT NULL
) STRICT;
CREATE INDEX events_by_time ON events (at);

-- One event for one channel; `number` is the order in which a channel hears of a monitor. `holds`
-- says why it waits for `due_at` without having been tried, where it does. `open` is what began for
-- the channel and whose end it was not told yet. `storm` is what it goes with: empty until its set is
-- fixed, then the storm's key.
CREATE TABLE deliveries (
    number        INTEGER PRIMARY KEY,
    key           TEXT NOT NULL UNIQUE,
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id),
    channel       TEXT NOT NULL,
    kind          TEXT NOT NULL,
    monitor       INTEGER REFERENCES monitors (number),
    event         INTEGER NOT NULL REFERENCES events (number),
    state         TEXT NOT NULL,
    holds         TEXT,
    storm         TEXT,
    open          INTEGER NOT NULL,
    created_at    INTEGER NOT NULL,
    due_at        INTEGER NOT NULL,
    first_try_at  INTEGER,
    tries         INTEGER NOT NULL,
    done_at       INTEGER
) STRICT;
CREATE INDEX deliveries_waiting ON deliveries (channel, due_at, number) WHERE state = 'waiting';
CREATE INDEX deliveries_in_order ON deliveries (channel, monitor, number) WHERE state = 'waiting';
CREATE INDEX deliveries_in_storm ON deliveries (channel, storm, number)
    WHERE state = 'waiting' AND storm IS NOT NULL;
CREATE INDEX deliveries_dead ON deliveries (state, workspace_id, number) WHERE state = 'dead';
CREATE INDEX deliveries_open ON deliveries (monitor) WHERE open;
CREATE INDEX deliveries_done ON deliveries (done_at) WHERE done_at IS NOT NULL;
CREATE INDEX deliveries_by_workspace ON deliveries (workspace_id, number);
CREATE INDEX deliveries_by_channel ON deliveries (channel, number);
CREATE INDEX deliveries_by_monitor ON deliveries (monitor, number);
CREATE INDEX deliveries_by_event ON deliveries (event);

-- What a receiver said is shown text: without what may be a secret.
CREATE TABLE delivery_attempts (
    delivery  INTEGER NOT NULL REFERENCES deliveries (number),
    number    INTEGER NOT NULL,
    at        INTEGER NOT NULL,
    took_ms   INTEGER NOT NULL,
    status    INTEGER,
    answer    TEXT NOT NULL,
    PRIMARY KEY (delivery, number)
) STRICT, WITHOUT ROWID;
