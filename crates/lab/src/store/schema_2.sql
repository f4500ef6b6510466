-- What an experiment found.
CREATE TABLE experiment (
    part INTEGER PRIMARY KEY REFERENCES part ON DELETE CASCADE,
    found TEXT NOT NULL
);
-- What changed while workloads ran.
CREATE TABLE watched (
    id INTEGER PRIMARY KEY,
    part INTEGER NOT NULL REFERENCES part ON DELETE CASCADE,
    series TEXT NOT NULL
);
CREATE INDEX watched_of_part ON watched (part);
-- What makes looking up and removing quick, and one view that people can ask questions of.
CREATE INDEX part_of_run ON part (run);
CREATE INDEX arm_of_part ON arm (part);
CREATE INDEX series_of_part ON series (part);
CREATE INDEX observation_of_series ON observation (series);
CREATE INDEX failure_of_part ON failure (part);
CREATE INDEX result_of_part ON result (part);
CREATE INDEX comparison_of_part ON comparison (part);
CREATE INDEX shown_of_part ON shown (part);
CREATE VIEW observations AS
    SELECT part.run, part.unix_time, part.commit_hash, part.modified, series.suite, series.workload,
        series.arm, series.metric, series.unit, observation.round, observation.position,
        observation.value, observation.counts, observation.disturbed
    FROM observation JOIN series ON series.id = series JOIN part ON part.id = series.part
    ORDER BY observation.id;
