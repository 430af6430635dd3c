-- What is committed together is one row: its results one after the other, in the form that
-- `src/results/body.rs` tells. A key is the number of the stretch of ten minutes, times 2^32, plus the
-- row's own number there. What stands in `results` becomes a row of its own each.

CREATE TABLE recent_results (
    key   INTEGER PRIMARY KEY,
    body  BLOB NOT NULL
) STRICT;

INSERT INTO recent_results (key, body)
SELECT slot / 600000 * 4294967296
           + ROW_NUMBER() OVER (PARTITION BY slot / 600000 ORDER BY slot, monitor, region, trigger, revision) - 1,
       unhex(printf('%016X%016X%08X%08X%08X%08X%04X%02X%02X%02X%02X',
                    slot, finished_after, monitor, revision, latency_us, probe, coalesce(status, 0),
                    region, trigger, outcome, attempts)
             || hex(coalesce(phases, x'00')))
FROM results
ORDER BY 1;

DROP TABLE results;
