//! Reports of invented measurements, with numbers that can be checked by mental arithmetic.

use super::*;
use crate::Tree;
use crate::machine::Machine;
use crate::model::metric::{self, PEAK, TIME};
use crate::model::{Metric, Report};
use crate::views::{Against, View, tests as made_up};

static METRICS: [Metric; 2] = [TIME, PEAK];
const SUBJECTS: [&str; 3] = ["allod", "peer", "mimalloc"];

/// Ours is 2, 2 and 256 times as fast as mimalloc, the peer 4, 1 and 1 times; ours takes half the memory.
pub(super) fn report() -> Report {
    let rows = [
        ("random-mixed", [4.0, 2.0, 8.0]),
        ("lifo", [4.0, 8.0, 8.0]),
        ("realloc-64m", [1.0, 256.0, 256.0]),
    ];
    let mut of = Vec::new();
    for (row, times) in rows {
        for (subject, ns) in SUBJECTS.into_iter().zip(times) {
            of.push((row, subject, &METRICS[0], ns));
            of.push((row, subject, &METRICS[1], if subject == "allod" { 1024.0 } else { 2048.0 }));
        }
    }
    let mut report = made_up::report(&of);
    report.provenance.tree = Tree::default();
    report.machine = Machine {
        os: "Linux 6.1".into(),
        arch: "x86_64".into(),
        cpu: "A Processor".into(),
        cores: 4,
        memory_kib: 8 << 20,
        huge_pages: "madvise".into(),
        governor: String::new(),
    };
    report.provenance.unix_time = 1_700_000_000;
    report.provenance.command = vec!["allod".into(), "bench".into()];
    with_views(report)
}

fn with_views(mut report: Report) -> Report {
    let rows = ["random-mixed", "lifo", "realloc-64m"];
    let against = Against { arms: &SUBJECTS, baseline: "mimalloc", apart: None, threshold: 0.01 };
    View::new("heap", rows, &TIME).with_extremes(&["realloc-64m"]).add_to(&mut report, against);
    View::peaks("heap", rows).add_to(&mut report, against);
    report
}

pub(super) fn given() -> Vec<Given> {
    vec![Given { label: "first".into(), report: report() }]
}

fn card(report: &Report) -> Scorecard {
    Scorecard::of(&Suite::all(report)[0])
}

fn close(mean: Option<Mean>, to: f64) -> bool {
    mean.is_some_and(|mean| (mean.share.ratio - to).abs() < 1e-9)
}

#[test]
fn means_are_those_one_computes_by_hand() {
    let report = report();
    let card = card(&report);
    assert_eq!((card.reference.as_str(), card.ours.as_deref()), ("mimalloc", Some("allod")));
    // The third roots of 2 · 2 · 256 and of 4 · 1 · 1, the square roots of 2 · 2 and 4 · 1.
    let (ours, peer) = (card.line("allod").unwrap(), card.line("peer").unwrap());
    assert!(close(ours.throughput, 1024f64.cbrt()) && close(peer.throughput, 4f64.cbrt()));
    assert!(close(ours.without_extremes, 2.0) && close(peer.without_extremes, 2.0));
    assert!(close(ours.memory, 2.0) && close(peer.memory, 1.0));
    assert_eq!(card.extremes, ["realloc-64m"]);
    assert_eq!(card.subjects[0].subject, "allod", "the fastest stands first");
}

#[test]
fn without_observations_the_means_are_the_same_but_have_no_intervals() {
    let mut report = report();
    let with = card(&report);
    report.observations.clear();
    let without = card(&report);
    for (a, b) in with.subjects.iter().zip(&without.subjects) {
        assert!(close(a.throughput, b.throughput.unwrap().share.ratio), "{}", a.subject);
        assert_eq!(b.throughput.unwrap().share.ci95, None);
    }
    let ours = with.line("allod").unwrap();
    assert!(ours.throughput.unwrap().share.ci95.is_some());
    // All rounds are equal, so everything is certain.
    assert_eq!(ours.memory.unwrap().share.ci95, Some([2.0, 2.0]));
    assert_eq!(without.line("allod").unwrap().memory.unwrap().share.ci95, None);
    let table = with.parts()[0].table.as_ref().unwrap().to_string();
    assert!(
        table.lines().any(|line| line.starts_with("allod") && line.ends_with("2.00\u{2013}2.00"))
    );
}

#[test]
fn a_row_that_was_lost_costs_every_mean_and_is_named() {
    let mut report = report();
    made_up::fail(&mut report, "lifo", "peer", "crashed");
    report.results.retain(|r| (r.workload.as_str(), r.subject.as_str()) != ("lifo", "peer"));
    let card = card(&report);
    let line = card.line("peer").unwrap();
    assert_eq!((line.throughput, line.memory, &line.lost[..]), (None, None, &["lifo".into()][..]));
    assert!(card.parts()[0].text.contains("peer lost lifo."), "{}", card.parts()[0].text);
}

#[test]
fn milestones_are_judged_by_intervals() {
    let card = card(&report());
    let of = |words: &str| card.milestones.iter().find(|m| m.what.contains(words)).unwrap();
    assert_eq!(of("peer passed").reached, Reached::Yes);
    // Against mimalloc ours is twice as fast in that row.
    assert_eq!((of("55 %").measured.ratio, of("55 %").reached), (2.0, Reached::Yes));
    // The best others take 2, 8 and 256 ns: half as fast, twice, 256 times.
    assert!((of("on average").measured.ratio - 256f64.cbrt()).abs() < 1e-9);
    assert!((of("without extremes").measured.ratio - 1.0).abs() < 1e-9);
    let every = of("the best of every row (most behind: random-mixed)");
    assert_eq!((every.measured.ratio, every.reached), (0.5, Reached::No));
    let noisy = Share { ratio: 1.1, ci95: Some([0.9, 1.3]) };
    assert_eq!(Reached::of(noisy, 1.0), Reached::Open);
    assert_eq!(Reached::of(noisy, 1.31), Reached::No);
}

#[test]
fn where_most_is_lost_comes_first() {
    let card = card(&report());
    let rows: Vec<(&str, &str)> =
        card.against_best.iter().map(|r| (r.row.as_str(), r.best.as_str())).collect();
    assert_eq!(rows[..2], [("random-mixed", "peer"), ("lifo", "peer")]);
    assert_eq!(card.against_best[0].share.ci95, Some([0.5, 0.5]));
}

#[test]
fn an_older_report_has_the_extremes_that_are_known_of_the_heap() {
    let mut report = report();
    report.views.clear();
    assert_eq!(card(&report).extremes, ["realloc-64m"]);
    report.views.extend(with_views(made_up::report(&[("lifo", "allod", &TIME, 1.0)])).views);
    assert_eq!(card(&report).extremes, ["realloc-64m"]);
}

#[test]
fn of_several_runs_of_a_suite_the_last_one_has_the_scorecard() {
    let mut all = given();
    let mut second = report();
    second.results.retain(|r| r.workload != "lifo");
    all.push(Given { label: "second".into(), report: second });
    let cards = scorecards(&all);
    assert_eq!((cards.len(), cards[0].rows.len()), (1, 2));
}

#[test]
fn markdown_is_as_it_was() {
    let cards = scorecards(&given());
    let parts = cards.iter().flat_map(|card| card.parts());
    let text: Vec<String> = parts.map(|part| part.markdown()).collect();
    golden("scorecard.md", &text.join("\n"));
}

#[test]
fn csv_has_one_line_per_value_and_quotes_names() {
    let mut all = given();
    all[0].report.observations.truncate(2);
    all[0].report.observations[1].arm = "a, \"b\"".into();
    golden("observations.csv", &observations::csv(&all));
}

#[test]
fn a_readme_gets_its_table_between_two_lines() {
    let page = "a\n<!-- heap table -->\nold\n<!-- end of heap table -->\nz\n";
    let new = readme::update(page, &given()).unwrap();
    golden("readme.md", &new);
    assert_eq!(readme::update(&new, &given()).unwrap(), new, "a second time changes nothing");
    let none = readme::update("a\n", &given()).unwrap_err();
    assert!(none.contains("there is no line <!-- heap table -->"), "{none}");
    let half = readme::update("<!-- heap table -->\n", &given()).unwrap_err();
    assert!(half.contains("end of heap table"), "{half}");
}

/// Programs that tell their own time: the time of the whole process has the same unit.
#[test]
fn a_mean_and_its_interval_are_of_the_metric_that_the_rows_show() {
    let metrics = [metric::RUN, metric::WALL];
    let mut of = Vec::new();
    for (subject, values) in [("allod-gcc", [10.0, 11.0]), ("chez", [20.0, 99.0])] {
        of.extend(metrics.iter().zip(values).map(|(metric, v)| ("fib", subject, metric, v)));
    }
    let mut report = made_up::report(&of);
    let arms = &["allod-gcc", "chez"];
    let against = Against { arms, baseline: "chez", apart: None, threshold: 0.01 };
    View::new("scheme", ["fib"], &metric::RUN).add_to(&mut report, against);
    let card = card(&report);
    let mean = card.line("allod-gcc").unwrap().throughput.unwrap();
    assert_eq!(card.ours.as_deref(), Some("allod-gcc"));
    assert!(close(Some(mean), 2.0) && mean.share.ci95 == Some([2.0, 2.0]), "{mean:?}");
    let page = "<!-- scheme table -->\n<!-- end of scheme table -->\n";
    let given = [Given { label: "first".into(), report }];
    let page = readme::update(page, &given).unwrap();
    assert!(page.contains("| fib | **2.00** | 1 (20.0) |"), "{page}");
    assert!(page.contains("; in brackets ms.\n"), "{page}");
}

#[test]
fn quantiles_are_rows_of_one_workload() {
    let p50 = crate::model::Metric::new("p50", "ns/20 ops");
    let mut report = made_up::report(&[("latency", "a", &p50, 4.0), ("latency", "b", &p50, 2.0)]);
    let view = View {
        suite: "heap-latency".into(),
        rows: vec![("p50".into(), "latency".into(), p50.clone())],
        results: true,
        ratios: crate::views::Ratios::Rows,
    };
    let against = Against { arms: &["a", "b"], baseline: "a", apart: None, threshold: 0.01 };
    view.add_to(&mut report, against);
    let suite = Suite::of(&report, "heap-latency").unwrap();
    assert_eq!(suite.values("p50", "b"), [2.0; 6]);
    assert_eq!(suite.ratio("p50", "b", "a").unwrap().ratio, 2.0);
}

/// Compares with a file; `GOLDEN=1` writes it, to be reviewed before it is committed.
fn golden(name: &str, text: &str) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report").join(name);
    if std::env::var_os("GOLDEN").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let wanted = std::fs::read_to_string(&file).unwrap();
    assert_eq!(text, wanted, "{} differs; GOLDEN=1 writes it anew", file.display());
}
