-- SHA-256 of the request that a key belongs to. Keys of older versions have none: any retry replays them.
ALTER TABLE idempotency_keys ADD COLUMN request BLOB;
