-- The first version of the schema; docs/store.md explains it.
CREATE TABLE run (
    id INTEGER PRIMARY KEY AUTOINCREMENT
);
CREATE TABLE part (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
    name TEXT NOT NULL UNIQUE,
    shard INTEGER,
    shares INTEGER,
    head TEXT NOT NULL,
    unix_time INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    version TEXT NOT NULL,
    command TEXT NOT NULL,
    commit_hash TEXT NOT NULL,
    branch TEXT NOT NULL,
    modified INTEGER NOT NULL,
    compiler TEXT NOT NULL,
    flags TEXT NOT NULL,
    settings TEXT NOT NULL,
    disturbed_rounds INTEGER NOT NULL,
    repeated_rounds INTEGER NOT NULL,
    stopped INTEGER NOT NULL,
    os TEXT NOT NULL,
    arch TEXT NOT NULL,
    cpu TEXT NOT NULL,
    cores INTEGER NOT NULL,
    memory_kib INTEGER NOT NULL,
    huge_pages TEXT NOT NULL,
    governor TEXT NOT NULL
);
CREATE TABLE arm (
    id INTEGER PRIMARY KEY,
    part INTEGER NOT NULL REFERENCES part ON DELETE CASCADE,
    name TEXT NOT NULL,
    origin TEXT NOT NULL,
    commit_hash TEXT NOT NULL,
    fingerprint TEXT NOT NULL
);
CREATE TABLE series (
    id INTEGER PRIMARY KEY,
    part INTEGER NOT NULL REFERENCES part ON DELETE CASCADE,
    suite TEXT NOT NULL,
    workload TEXT NOT NULL,
    arm TEXT NOT NULL,
    metric TEXT NOT NULL,
    unit TEXT NOT NULL
);
CREATE TABLE observation (
    id INTEGER PRIMARY KEY,
    series INTEGER NOT NULL REFERENCES series ON DELETE CASCADE,
    round INTEGER NOT NULL,
    position INTEGER NOT NULL,
    value REAL,
    counts INTEGER NOT NULL,
    disturbed INTEGER NOT NULL
);
CREATE TABLE failure (
    id INTEGER PRIMARY KEY,
    part INTEGER NOT NULL REFERENCES part ON DELETE CASCADE,
    suite TEXT NOT NULL,
    workload TEXT NOT NULL,
    subject TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE TABLE result (
    id INTEGER PRIMARY KEY,
    part INTEGER NOT NULL REFERENCES part ON DELETE CASCADE,
    suite TEXT NOT NULL,
    workload TEXT NOT NULL,
    subject TEXT NOT NULL,
    unit TEXT NOT NULL,
    runs INTEGER NOT NULL,
    median REAL,
    mean REAL,
    stddev REAL,
    low REAL,
    high REAL,
    peak_rss_kib INTEGER
);
CREATE TABLE comparison (
    id INTEGER PRIMARY KEY,
    part INTEGER NOT NULL REFERENCES part ON DELETE CASCADE,
    suite TEXT NOT NULL,
    workload TEXT NOT NULL,
    subject TEXT NOT NULL,
    baseline TEXT NOT NULL,
    ratio REAL,
    low REAL,
    high REAL,
    verdict TEXT NOT NULL
);
CREATE TABLE shown (
    id INTEGER PRIMARY KEY,
    part INTEGER NOT NULL REFERENCES part ON DELETE CASCADE,
    view TEXT NOT NULL
);
