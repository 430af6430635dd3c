-- Suspicions of probes, as `../sqlite/0042_probe_suspicions.sql` describes.
CREATE TABLE probe_suspicions (
    probe  TEXT COLLATE "C" PRIMARY KEY,
    state  TEXT NOT NULL
);
