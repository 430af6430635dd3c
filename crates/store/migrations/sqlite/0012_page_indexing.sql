-- Whether search engines may list a status page; only those that everybody may see are ever listed.
ALTER TABLE pages ADD COLUMN allow_indexing INTEGER NOT NULL DEFAULT 1;
