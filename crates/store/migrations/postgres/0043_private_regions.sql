-- Private regions, as `../sqlite/0043_private_regions.sql` describes.

ALTER TABLE probes ADD COLUMN workspace_id TEXT COLLATE "C" REFERENCES workspaces (id) ON DELETE CASCADE;
ALTER TABLE probes DROP CONSTRAINT probes_name_key;
CREATE UNIQUE INDEX probes_by_name ON probes (COALESCE(workspace_id, ''), name);

ALTER TABLE probe_regions ADD COLUMN workspace_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE probe_regions DROP CONSTRAINT probe_regions_pkey;
ALTER TABLE probe_regions ADD PRIMARY KEY (workspace_id, region);
