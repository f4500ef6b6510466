-- Why there were no hardware counters.
ALTER TABLE part ADD COLUMN counters_errno INTEGER;
UPDATE part SET counters_errno = json_extract(head, '$.provenance.counters_errno');
