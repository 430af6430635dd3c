-- What is committed together is one row: its results one after the other, in the form that
-- `src/results/body.rs` tells. A key is the number of the stretch of ten minutes, times 2^32, plus the
-- row's own number there. What stands in `results` becomes rows of 64 results.

CREATE TABLE recent_results (
    key   INTEGER PRIMARY KEY,
    body  BLOB NOT NULL
) STRICT;

INSERT INTO recent_results (key, body)
SELECT stretch * 4294967296 + place / 64, unhex(group_concat(digits, '' ORDER BY place))
FROM (
    SELECT slot / 600000 AS stretch,
           ROW_NUMBER() OVER (PARTITION BY slot / 600000
                              ORDER BY slot, monitor, region, trigger, revision) - 1 AS place,
           printf('%016X%016X%08X%08X%08X%08X%04X%02X%02X%02X%02X',
                  slot, finished_after, monitor, revision, latency_us, probe, coalesce(status, 0),
                  region, trigger, outcome, attempts)
               || hex(coalesce(phases, x'00')) AS digits
    FROM results
)
GROUP BY stretch, place / 64;

DROP TABLE results;
