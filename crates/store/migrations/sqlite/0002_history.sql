-- History: results that no longer change are gathered from `results` into blocks, one of each
-- monitor and ten minutes, and summed up beside. A key is the number of the stretch of time since
-- 1970, times 2^32, plus the monitor's number: in the order of time, so that what is gathered
-- together lies together. What a body holds stands in `src/history/`.

CREATE TABLE result_blocks (
    key   INTEGER PRIMARY KEY,
    body  BLOB NOT NULL
) STRICT;

CREATE TABLE hour_sums (
    key   INTEGER PRIMARY KEY,
    body  BLOB NOT NULL
) STRICT;

CREATE TABLE day_sums (
    key   INTEGER PRIMARY KEY,
    body  BLOB NOT NULL
) STRICT;

-- How long results are kept; NULL is as the server's setting says.
ALTER TABLE workspaces ADD COLUMN results_kept_days INTEGER;
-- The first stretch of ten minutes whose blocks retention has not taken away.
ALTER TABLE workspaces ADD COLUMN blocks_kept_from INTEGER;
