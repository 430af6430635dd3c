-- What is committed together is one row: its results one after the other, in the form that
-- `src/results/body.rs` tells. A key is the number of the stretch of ten minutes, times 2^32, plus the
-- row's own number there. What stands in `results` becomes rows of 64 results.

CREATE TABLE recent_results (
    key   BIGINT PRIMARY KEY,
    body  BYTEA NOT NULL
);
-- Half a page at most, and gone in a quarter of an hour: not worth compressing, or a table beside.
ALTER TABLE recent_results ALTER COLUMN body SET STORAGE PLAIN;

INSERT INTO recent_results (key, body)
SELECT stretch * 4294967296 + place / 64, string_agg(bytes, ''::BYTEA ORDER BY place)
FROM (
    SELECT slot / 600000 AS stretch,
           ROW_NUMBER() OVER (PARTITION BY slot / 600000
                              ORDER BY slot, monitor, region, trigger, revision) - 1 AS place,
           int8send(slot) || int8send(finished_after)
               || substring(int8send(monitor) FROM 5) || substring(int8send(revision) FROM 5)
               || substring(int8send(latency_us) FROM 5) || substring(int8send(probe) FROM 5)
               || substring(int8send(coalesce(status, 0)) FROM 7)
               || substring(int8send(region) FROM 8) || substring(int8send(trigger) FROM 8)
               || substring(int8send(outcome) FROM 8) || substring(int8send(attempts) FROM 8)
               || coalesce(phases, '\x00'::BYTEA) AS bytes
    FROM results
) AS packed
GROUP BY stretch, place / 64;

DROP TABLE results;
