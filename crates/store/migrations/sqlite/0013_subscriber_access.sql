-- What shows that a subscriber may know what its page tells: an owner of the page added it (`by_owner`),
-- or it asked where a password was said (`let_in`, from which nobody tells the password). `asked_from`
-- is the network that asked, as a digest, until the address is confirmed.
ALTER TABLE subscribers ADD COLUMN by_owner INTEGER NOT NULL DEFAULT 0;
ALTER TABLE subscribers ADD COLUMN let_in BLOB;
ALTER TABLE subscribers ADD COLUMN asked_from BLOB;
UPDATE subscribers SET by_owner = 1 WHERE kind = 'webhook'
    OR id IN (SELECT resource_id FROM audit WHERE action = 'subscriber.add');
CREATE INDEX subscribers_pending_by_page ON subscribers (page_id, asked_from)
    WHERE confirmed_at IS NULL;
