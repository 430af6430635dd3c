-- The server's own probe has the name that people read.

UPDATE probes SET name = 'this server' WHERE name = 'embedded';
UPDATE audit SET resource_id = 'this server'
    WHERE resource_id = 'embedded' AND action IN ('probe.doubt', 'probe.recover');
