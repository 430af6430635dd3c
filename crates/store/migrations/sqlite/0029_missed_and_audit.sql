-- Why nobody ran missed slots, as a code of `src/codes.rs`; 0 for ranges stored before. Indexes for lists of missed
-- slots and of changes.

ALTER TABLE missed ADD COLUMN reason INTEGER NOT NULL DEFAULT 0;
CREATE INDEX missed_by_monitor ON missed (monitor, first_slot);
CREATE INDEX audit_by_resource ON audit (workspace_id, resource_id, number);
