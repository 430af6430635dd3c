-- Targets for uptime, as `../sqlite/0040_uptime_targets.sql` describes.
ALTER TABLE workspaces ADD COLUMN uptime_target BIGINT;

ALTER TABLE month_figures ADD COLUMN tags TEXT NOT NULL DEFAULT '';
