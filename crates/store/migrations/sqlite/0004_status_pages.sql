-- Status pages with their components and component groups (specification §2.5 to §2.7).

-- A slug is unique in the server, and so is a custom domain: by its A-labels, whatever was written.
CREATE TABLE pages (
    id                  TEXT PRIMARY KEY,
    workspace_id        TEXT NOT NULL REFERENCES workspaces (id),
    title               TEXT NOT NULL,
    slug                TEXT NOT NULL UNIQUE,
    description         TEXT,
    homepage_url        TEXT,
    contact_url         TEXT,
    icon                TEXT,
    custom_domain       TEXT,
    custom_domain_name  TEXT UNIQUE,
    access_type         TEXT,
    password_sealed     BLOB,
    auth_email_domains  TEXT NOT NULL,
    published           INTEGER NOT NULL,
    theme               TEXT NOT NULL,
    created_at          INTEGER NOT NULL,
    updated_at          INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pages_by_workspace ON pages (workspace_id, id);

CREATE TABLE component_groups (
    id            TEXT PRIMARY KEY,
    workspace_id  TEXT NOT NULL REFERENCES workspaces (id),
    page_id       TEXT NOT NULL REFERENCES pages (id),
    name          TEXT NOT NULL,
    created_at    INTEGER NOT NULL,
    updated_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX component_groups_by_workspace ON component_groups (workspace_id, id);
CREATE INDEX component_groups_by_page ON component_groups (page_id, id);

-- A component keeps the number of a monitor that was deleted, whose history it shows.
CREATE TABLE components (
    id              TEXT PRIMARY KEY,
    workspace_id    TEXT NOT NULL REFERENCES workspaces (id),
    page_id         TEXT NOT NULL REFERENCES pages (id),
    kind            TEXT NOT NULL,
    monitor         INTEGER REFERENCES monitors (number),
    name            TEXT,
    description     TEXT,
    place           INTEGER,
    group_id        TEXT REFERENCES component_groups (id),
    place_in_group  INTEGER,
    created_at      INTEGER NOT NULL,
    updated_at      INTEGER NOT NULL,
    UNIQUE (page_id, monitor)
) STRICT, WITHOUT ROWID;
CREATE INDEX components_by_workspace ON components (workspace_id, id);
CREATE INDEX components_by_monitor ON components (monitor);
CREATE INDEX components_by_group ON components (group_id);
