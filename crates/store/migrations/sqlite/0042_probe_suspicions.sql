-- Suspicion of each probe that was ever suspect, by the name of the probe: JSON of `StoredSuspicion`.
CREATE TABLE probe_suspicions (
    probe  TEXT PRIMARY KEY,
    state  TEXT NOT NULL
) STRICT, WITHOUT ROWID;
