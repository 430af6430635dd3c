-- Tags of monitors, joined by line breaks and sorted by key. `tag_keys` has the tags as they are compared, in
-- lower case and in the same order, each between two line breaks.
ALTER TABLE monitors ADD COLUMN tags TEXT NOT NULL DEFAULT '';
ALTER TABLE monitors ADD COLUMN tag_keys TEXT NOT NULL DEFAULT '';
