-- Blocks of results in a partition per day of UTC, so that retention drops whole days. `src/history/days.rs` creates
-- and drops them. Earlier blocks stay where they are: their table becomes the partition of all days up to its last one.

ALTER TABLE result_blocks RENAME TO result_blocks_earlier;
ALTER INDEX result_blocks_pkey RENAME TO result_blocks_earlier_pkey;

CREATE TABLE result_blocks (
    key   BIGINT PRIMARY KEY,
    body  BYTEA NOT NULL
) PARTITION BY RANGE (key);

-- A key is the number of ten minutes, times 2^32, plus the number of the monitor. A day has 144 times ten minutes.
DO $$
DECLARE
    last BIGINT := (SELECT MAX(key) FROM result_blocks_earlier);
BEGIN
    IF last IS NULL THEN
        DROP TABLE result_blocks_earlier;
    ELSE
        EXECUTE format('ALTER TABLE result_blocks ATTACH PARTITION result_blocks_earlier FOR VALUES FROM (MINVALUE) TO (%s)',
            (((last >> 32) / 144 + 1) * 144) << 32);
    END IF;
END
$$;
