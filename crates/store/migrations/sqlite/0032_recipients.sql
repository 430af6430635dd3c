-- The recipient of a delivery in two columns: its kind, and its identifier, which is unique among
-- all kinds. Queries for one recipient use the identifier alone, and so do the indexes.
ALTER TABLE deliveries RENAME COLUMN recipient TO recipient_id;
ALTER TABLE deliveries ADD COLUMN recipient_kind TEXT NOT NULL DEFAULT 'channel'
    CHECK (recipient_kind IN ('channel', 'page', 'subscriber'));
UPDATE deliveries SET recipient_kind = 'page' WHERE substr(recipient_id, 1, 5) = 'page_';
UPDATE deliveries SET recipient_kind = 'subscriber' WHERE substr(recipient_id, 1, 4) = 'sub_';
-- Indexes with the names of the columns.
DROP INDEX deliveries_in_storm;
CREATE INDEX deliveries_in_digest ON deliveries (recipient_id, digest_key, number)
    WHERE state = 'waiting' AND digest_key IS NOT NULL;
DROP INDEX deliveries_by_channel;
CREATE INDEX deliveries_by_recipient ON deliveries (recipient_id, number);
