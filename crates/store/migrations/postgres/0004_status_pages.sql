-- Status pages, as `../sqlite/0004_status_pages.sql` says it.

CREATE TABLE pages (
    id                  TEXT COLLATE "C" PRIMARY KEY,
    workspace_id        TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    title               TEXT NOT NULL,
    slug                TEXT NOT NULL UNIQUE,
    description         TEXT,
    homepage_url        TEXT,
    contact_url         TEXT,
    icon                TEXT,
    custom_domain       TEXT,
    custom_domain_name  TEXT UNIQUE,
    access_type         TEXT,
    password_sealed     BYTEA,
    auth_email_domains  TEXT NOT NULL,
    published           BOOLEAN NOT NULL,
    theme               TEXT NOT NULL,
    created_at          BIGINT NOT NULL,
    updated_at          BIGINT NOT NULL
);
CREATE INDEX pages_by_workspace ON pages (workspace_id, id);

CREATE TABLE component_groups (
    id            TEXT COLLATE "C" PRIMARY KEY,
    workspace_id  TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    page_id       TEXT COLLATE "C" NOT NULL REFERENCES pages (id),
    name          TEXT NOT NULL,
    created_at    BIGINT NOT NULL,
    updated_at    BIGINT NOT NULL
);
CREATE INDEX component_groups_by_workspace ON component_groups (workspace_id, id);
CREATE INDEX component_groups_by_page ON component_groups (page_id, id);

CREATE TABLE components (
    id              TEXT COLLATE "C" PRIMARY KEY,
    workspace_id    TEXT COLLATE "C" NOT NULL REFERENCES workspaces (id),
    page_id         TEXT COLLATE "C" NOT NULL REFERENCES pages (id),
    kind            TEXT NOT NULL,
    monitor         BIGINT REFERENCES monitors (number),
    name            TEXT,
    description     TEXT,
    place           BIGINT,
    group_id        TEXT COLLATE "C" REFERENCES component_groups (id),
    place_in_group  BIGINT,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL,
    UNIQUE (page_id, monitor)
);
CREATE INDEX components_by_workspace ON components (workspace_id, id);
CREATE INDEX components_by_monitor ON components (monitor);
CREATE INDEX components_by_group ON components (group_id);
