-- What is committed together is one row: its results one after the other, in the form that
-- `src/results/body.rs` tells. A key is the number of the stretch of ten minutes, times 2^32, plus the
-- row's own number there. What stands in `results` becomes a row of its own each.

CREATE TABLE recent_results (
    key   BIGINT PRIMARY KEY,
    body  BYTEA NOT NULL
);

INSERT INTO recent_results (key, body)
SELECT slot / 600000 * 4294967296
           + ROW_NUMBER() OVER (PARTITION BY slot / 600000 ORDER BY slot, monitor, region, trigger, revision) - 1,
       int8send(slot) || int8send(finished_after)
           || substring(int8send(monitor) FROM 5) || substring(int8send(revision) FROM 5)
           || substring(int8send(latency_us) FROM 5) || substring(int8send(probe) FROM 5)
           || substring(int8send(coalesce(status, 0)) FROM 7)
           || substring(int8send(region) FROM 8) || substring(int8send(trigger) FROM 8)
           || substring(int8send(outcome) FROM 8) || substring(int8send(attempts) FROM 8)
           || coalesce(phases, '\x00'::BYTEA)
FROM results;

DROP TABLE results;
