-- Which resources a configuration of `aloft apply` owns. `id` is NULL while the resource is being created. Entries may
-- outlive their resources. A resource has one owner.
CREATE TABLE configured_resources (
    number         INTEGER PRIMARY KEY,
    workspace_id   TEXT NOT NULL REFERENCES workspaces (id),
    configuration  TEXT NOT NULL,
    kind           TEXT NOT NULL,
    key            TEXT NOT NULL,
    id             TEXT,
    recorded_at    INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX configured_resources_by_key ON configured_resources (workspace_id, configuration, kind, key);
CREATE UNIQUE INDEX configured_resources_by_id ON configured_resources (workspace_id, id) WHERE id IS NOT NULL;
