-- The audit log names the suspicion of a probe by the glossary's term.
UPDATE audit SET action = 'probe.suspect' WHERE action = 'probe.doubt';
UPDATE audit SET action = 'probe.recovered' WHERE action = 'probe.recover';
