-- The recipient of a delivery in two columns: its kind, and its identifier, which is unique among
-- all kinds. Queries for one recipient use the identifier alone, and so do the indexes.
ALTER TABLE deliveries RENAME COLUMN recipient TO recipient_id;
ALTER TABLE deliveries ADD COLUMN recipient_kind TEXT NOT NULL DEFAULT 'channel'
    CHECK (recipient_kind IN ('channel', 'page', 'subscriber'));
UPDATE deliveries SET recipient_kind = 'page' WHERE substr(recipient_id, 1, 5) = 'page_';
UPDATE deliveries SET recipient_kind = 'subscriber' WHERE substr(recipient_id, 1, 4) = 'sub_';
-- Indexes with the names of the columns.
ALTER INDEX deliveries_in_storm RENAME TO deliveries_in_digest;
ALTER INDEX deliveries_by_channel RENAME TO deliveries_by_recipient;
