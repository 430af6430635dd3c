-- Target for uptime in parts per million. NULL if the workspace has the default.
ALTER TABLE workspaces ADD COLUMN uptime_target INTEGER;

-- Tags of the monitor at the end of the month, as `monitors.tags` has them. A month that was frozen before has none.
ALTER TABLE month_figures ADD COLUMN tags TEXT NOT NULL DEFAULT '';
