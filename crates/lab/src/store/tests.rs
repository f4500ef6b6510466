use super::schema::tests::{make_newer, make_old};
use super::*;
use crate::driver::Seen;
use crate::model::metric::{PEAK, TIME};
use crate::model::{ArmRecord, Report};
use crate::tree::Tree;
use crate::views::{Against, View, tests as views};

/// A folder that is removed after the test.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(name: &str) -> Self {
        let folder =
            std::env::temp_dir().join(format!("allod-store-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(super) fn file(&self) -> PathBuf {
        self.0.join("runs.sqlite")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A report with everything.
pub(crate) fn full() -> Report {
    let mut report = views::report(&[
        ("a", "base", &TIME, 4.0),
        ("a", "fast", &TIME, 2.0),
        ("a", "base", &PEAK, 4000.0),
        ("b", "base", &TIME, 3.0),
    ]);
    views::fail(&mut report, "b", "fast", "crashed");
    let against =
        Against { arms: &["base", "fast"], baseline: "base", apart: None, threshold: 0.01 };
    View::new("heap", ["a", "b"], &TIME).add_to(&mut report, against);
    let record = ArmRecord { name: "fast".into(), origin: "here".into(), ..ArmRecord::default() };
    report.provenance.arms = vec![record];
    report.provenance.settings.insert("scale".into(), "0.25".into());
    report.provenance.seed = u64::MAX;
    report
}

#[test]
fn a_run_comes_back_as_it_was_saved() {
    let scratch = Scratch::new("whole");
    let mut store = Store::open(&scratch.file()).unwrap();
    let report = full();
    let run = store.save(&report).unwrap();
    assert_eq!(store.load(run).unwrap(), report);
    assert_eq!(store.save(&report), Ok(run), "a second time is not another run");
    drop(store);
    let store = Store::open_to_read(&scratch.file()).unwrap();
    assert_eq!(store.load(run).unwrap(), report);
}

#[test]
fn what_is_no_number_comes_back_as_none() {
    let scratch = Scratch::new("nan");
    let mut store = Store::open(&scratch.file()).unwrap();
    let mut report = full();
    (report.observations[0].value, report.comparisons[0].ratio) = (f64::NAN, f64::INFINITY);
    let run = store.save(&report).unwrap();
    let back = store.load(run).unwrap();
    assert!(back.observations[0].value.is_nan());
    assert_eq!(back.comparisons[0].ratio, f64::INFINITY);
}

#[test]
fn runs_are_found_by_what_they_measured_and_when_and_where() {
    let scratch = Scratch::new("list");
    let mut store = Store::open(&scratch.file()).unwrap();
    let mut old = full();
    old.provenance.unix_time = 1_000_000_000;
    let commit = "0123456789abcdef".to_owned();
    old.provenance.tree = Tree { commit, branch: "main".into(), modified: true };
    let old = store.save(&old).unwrap();
    let mut new = Report::of(Seen::default(), 1);
    new.provenance.tree = Tree::default();
    let new = store.save(&new).unwrap();
    let found = |filter: Filter| -> Vec<RunId> {
        store.list(&filter).unwrap().into_iter().map(|entry| entry.run).collect()
    };
    assert_eq!(found(Filter::default()), [new, old], "the newest first");
    let text = |text: &str| Some(text.to_owned());
    assert_eq!(found(Filter { suite: text("heap"), ..Filter::default() }), [old]);
    assert_eq!(found(Filter { workload: text("b"), ..Filter::default() }), [old]);
    assert_eq!(found(Filter { subject: text("fast"), ..Filter::default() }), [old]);
    assert_eq!(found(Filter { commit: text("012345"), ..Filter::default() }), [old]);
    assert_eq!(found(Filter { commit: text("12345"), ..Filter::default() }), []);
    assert_eq!(found(Filter { branch: text("main"), ..Filter::default() }), [old]);
    assert_eq!(found(Filter { since: Some(1_000_000_000), ..Filter::default() }), [new, old]);
    assert_eq!(found(Filter { since: Some(1_000_000_001), ..Filter::default() }), [new]);

    let entry = store.list(&Filter { suite: text("heap"), ..Filter::default() }).unwrap().remove(0);
    assert_eq!(entry.time, "2001-09-09 01:46");
    assert_eq!(
        (entry.suites, entry.workloads),
        (vec!["heap".into()], vec!["a".into(), "b".into()])
    );
    assert_eq!((entry.rounds, entry.tree.modified), (6, true));
    assert_eq!(entry.subjects, ["base", "fast"]);
    let why = store.list(&Filter { workload: text("aa"), ..Filter::default() }).unwrap_err();
    assert_eq!(why, "no workload \"aa\"; did you mean a? There are: a, b");
}

#[test]
fn a_removed_run_is_gone_and_its_number_is_not_used_again() {
    let scratch = Scratch::new("remove");
    let mut store = Store::open(&scratch.file()).unwrap();
    assert!(store.load(RunId(1)).unwrap_err().ends_with("is empty"));
    let (first, second) = (store.save(&full()).unwrap(), store.save(&full()).unwrap());
    let size = || std::fs::metadata(scratch.file()).unwrap().len();
    let before = size();
    store.remove(second).unwrap();
    assert!(size() <= before);
    let why = store.load(second).unwrap_err();
    assert!(why.starts_with("there is no run 2 in") && why.ends_with("the nearest is 1"), "{why}");
    assert_eq!(store.remove(second).unwrap_err(), why);
    let sql = "SELECT count(*) FROM pragma_foreign_key_check";
    assert_eq!(store.sql(|c| c.query_row(sql, [], |row| row.get::<_, i64>(0))), Ok(0));
    let sql = "SELECT count(DISTINCT part) FROM series";
    assert_eq!(store.sql(|c| c.query_row(sql, [], |row| row.get::<_, i64>(0))), Ok(1));
    let third = store.save(&full()).unwrap();
    assert!(first < second && second < third);
}

#[test]
fn a_store_of_a_newer_version_is_refused() {
    let scratch = Scratch::new("newer");
    make_newer(&Store::open(&scratch.file()).unwrap().connection);
    for opened in [Store::open(&scratch.file()), Store::open_to_read(&scratch.file())] {
        let why = opened.err().unwrap();
        assert!(why.contains("is a store with schema 4; this version of allod knows 3"), "{why}");
    }
}

#[test]
fn a_store_of_an_older_version_is_brought_up_to_date() {
    for version in [1, 2] {
        let scratch = Scratch::new(&format!("older-{version}"));
        let mut report = full();
        report.provenance.counters_errno = Some(libc::EACCES);
        let run = {
            let mut store = Store::open(&scratch.file()).unwrap();
            let run = store.save(&report).unwrap();
            make_old(&store.connection, version);
            run
        };
        let store = Store::open_to_read(&scratch.file()).unwrap();
        assert_eq!(store.load(run).unwrap(), report);
        let number = |sql: &str| store.sql(|c| c.query_row(sql, [], |row| row.get::<_, i64>(0)));
        let fast = "SELECT count(*) FROM observations WHERE arm = 'fast' AND counts";
        assert_eq!(number(fast), Ok(6));
        let why = "SELECT counters_errno FROM part";
        assert_eq!(number(why), Ok(libc::EACCES.into()), "it was in the head already");
    }
}

#[test]
fn what_is_no_store_is_left_alone() {
    let scratch = Scratch::new("foreign");
    let text = "not a database, but long enough to be looked at: ".repeat(40);
    std::fs::write(scratch.file(), &text).unwrap();
    let why = Store::open(&scratch.file()).unwrap_err();
    assert!(why.contains("is not a store, or is damaged"), "{why}");
    assert_eq!(std::fs::read_to_string(scratch.file()).unwrap(), text);

    std::fs::remove_file(scratch.file()).unwrap();
    Connection::open(scratch.file()).unwrap().execute_batch("CREATE TABLE run (x)").unwrap();
    let why = Store::open(&scratch.file()).unwrap_err();
    assert!(why.ends_with("is another program's database, not a store"), "{why}");

    std::fs::remove_file(scratch.file()).unwrap();
    Store::open(&scratch.file()).unwrap().save(&full()).unwrap();
    let cut = std::fs::OpenOptions::new().write(true).open(scratch.file()).unwrap();
    cut.set_len(6000).unwrap();
    let damaged = Store::open(&scratch.file()).and_then(|store| store.load(RunId(1)));
    let why = damaged.unwrap_err();
    assert!(why.contains("is not a store, or is damaged"), "{why}");

    let why = Store::open(Path::new("/dev/full")).unwrap_err();
    assert!(why.contains("/dev/full"), "{why}");
    let why = Store::open(Path::new("/proc/no/runs.sqlite")).unwrap_err();
    assert!(why.contains("cannot make the folder /proc/no"), "{why}");
    let why = Store::open_to_read(Path::new("/no/runs.sqlite")).unwrap_err();
    assert_eq!(why, "there is no store /no/runs.sqlite");
}

#[test]
fn a_full_disk_leaves_the_store_as_it_was() {
    let scratch = Scratch::new("full");
    let mut store = Store::open(&scratch.file()).unwrap();
    let run = store.save(&full()).unwrap();
    // SQLite's own size limit fails like a full disk.
    let limit = "PRAGMA page_count";
    let pages: i64 = store.sql(|c| c.query_row(limit, [], |row| row.get(0))).unwrap();
    store.sql(|c| c.pragma_update(None, "max_page_count", pages)).unwrap();
    let mut large = full();
    large.observations = vec![large.observations[0].clone(); 10_000];
    let why = store.save(&large).unwrap_err();
    assert!(why.ends_with("cannot be written: the disk is full"), "{why}");
    drop(store);
    let mut store = Store::open(&scratch.file()).unwrap();
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 1);
    assert!(store.load(run).is_ok() && store.save(&large).is_ok());
}

#[test]
fn many_threads_with_connections_of_their_own_write_at_once() {
    let scratch = Scratch::new("threads");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // All of them find no file at first.
                let mut store = Store::open(&scratch.file()).unwrap();
                for _ in 0..5 {
                    store.save(&full()).unwrap();
                }
            });
        }
    });
    let store = Store::open_to_read(&scratch.file()).unwrap();
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 20);
}
