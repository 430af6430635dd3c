-- What shows that a subscriber may know what its page tells, as `../sqlite/0013_subscriber_access.sql`
-- says it.
ALTER TABLE subscribers ADD COLUMN by_owner BOOLEAN NOT NULL DEFAULT FALSE;
ALTER TABLE subscribers ADD COLUMN let_in BYTEA;
ALTER TABLE subscribers ADD COLUMN asked_from BYTEA;
UPDATE subscribers SET by_owner = TRUE WHERE kind = 'webhook'
    OR id IN (SELECT resource_id FROM audit WHERE action = 'subscriber.add');
CREATE INDEX subscribers_pending_by_page ON subscribers (page_id, asked_from)
    WHERE confirmed_at IS NULL;
