-- Whether search engines may list a page, as `../sqlite/0012_page_indexing.sql` says it.
ALTER TABLE pages ADD COLUMN allow_indexing BOOLEAN NOT NULL DEFAULT TRUE;
