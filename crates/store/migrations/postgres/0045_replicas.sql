-- Servers that share this database. `address` is where the owner takes connections that the others pass on, and
-- `seen_at` when it last showed that it runs, in milliseconds since 1970 by the database server's clock. Both are
-- NULL for an owner that no other server waits for.
ALTER TABLE owner ADD COLUMN address TEXT;
ALTER TABLE owner ADD COLUMN seen_at BIGINT;
