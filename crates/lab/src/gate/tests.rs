use super::pair::of_row;
use super::*;
use crate::driver::Seen;
use crate::model::metric::{EXECUTED, EXECUTED_PER_OPERATION, PEAK, TIME};
use crate::model::{ArmRecord, Metric, Observation};
use crate::rng::Rng;
use crate::stats;
use crate::views::{Against, GEOMETRIC_MEAN, Ratios, View};

/// A run of twelve rounds of two workloads: `slower` is what Allod takes longer in the first, `wobble` how
/// much the rounds differ, `machine` how slow it is for all.
fn run(seed: u64, slower: f64, wobble: f64, machine: f64) -> Report {
    let mut rng = Rng::new(seed);
    let mut observations = Vec::new();
    for (workload, arm, cost) in [
        ("a", "mimalloc", 10.0),
        ("a", "allod", 8.0 * slower),
        ("a", "system", 20.0),
        ("b", "mimalloc", 5.0),
        ("b", "allod", 4.0),
        ("b", "system", 9.0),
    ] {
        for round in 1..=12 {
            let noise = 1.0 + wobble * (rng.below(1000) as f64 / 1000.0 - 0.5);
            for (metric, value) in [(TIME, cost * noise * machine), (PEAK, 1000.0 * cost)] {
                observations.push(Observation {
                    round,
                    position: 0,
                    suite: "heap".into(),
                    workload: workload.into(),
                    arm: arm.into(),
                    metric,
                    value,
                    counts: true,
                    disturbed: false,
                });
            }
        }
    }
    with_views(Report::of(Seen { observations, ..Seen::default() }, 1), "mimalloc")
}

fn with_views(mut report: Report, baseline: &str) -> Report {
    let arms = ["allod", "mimalloc", "system"];
    let against = Against { arms: &arms, baseline, apart: None, threshold: 0.02 };
    View::new("heap", ["a", "b"], &TIME).add_to(&mut report, against);
    report
}

fn judge(then: &Report, now: &Report, threshold: f64) -> Gate {
    let then = Reference { name: "run 7".into(), report: then.clone() };
    Gate::judge(&then, now, threshold)
}

fn finding(then: &Report, now: &Report) -> Finding {
    judge(then, now, 0.02).finding
}

#[test]
fn what_did_not_change_is_fine_however_slow_the_machine_was() {
    let gate = judge(&run(1, 1.0, 0.01, 1.0), &run(2, 1.0, 0.01, 1.7), 0.02);
    assert_eq!(gate.finding, Finding::Fine, "{gate:?}");
    let names: Vec<_> = gate.rows.iter().map(|r| (r.row.as_str(), r.subject.as_str())).collect();
    assert_eq!(names, [("a", "allod"), ("b", "allod"), ("geometric-mean", "allod")]);
}

#[test]
fn a_loss_beyond_the_threshold_is_a_regression_and_its_row_is_named() {
    let gate = judge(&run(1, 1.0, 0.01, 1.0), &run(2, 1.1, 0.01, 1.0), 0.02);
    assert_eq!(gate.finding, Finding::Regression);
    assert_eq!((gate.rows[0].finding, gate.rows[1].finding), (Finding::Regression, Finding::Fine));
    let change = gate.rows[0].change.ratio;
    assert!((change - 1.0 / 1.1).abs() < 0.01, "{change}");
    let page = page(&gate);
    assert!(page.contains("heap a") && page.contains("REGRESSION"), "{page}");
    assert!(!page.contains("heap b"), "what is fine is counted only: {page}");
    assert!(page.contains("worse by more than 2 %"), "{page}");
}

#[test]
fn noise_leaves_a_row_undecided_and_a_gain_is_fine() {
    assert_eq!(finding(&run(1, 1.0, 0.5, 1.0), &run(2, 1.0, 0.5, 1.0)), Finding::Undecided);
    assert_eq!(finding(&run(1, 1.0, 0.01, 1.0), &run(2, 0.8, 0.01, 1.0)), Finding::Fine);
}

#[test]
fn too_few_rounds_decide_nothing() {
    let (then, mut now) = (run(1, 1.0, 0.01, 1.0), run(2, 2.0, 0.01, 1.0));
    now.observations.retain(|o| o.round <= 5);
    let gate = judge(&then, &now, 0.02);
    assert_eq!(gate.finding, Finding::Undecided);
    assert_eq!(gate.rows[0].why.as_deref(), Some("fewer than 6 rounds"));
}

#[test]
fn one_row_of_many_must_be_surer_than_one_alone() {
    let logs = |at: f64| (0..7).map(|i| at + 0.001 * f64::from(i)).collect::<Vec<_>>();
    let (then, now) = (logs(0.0), logs(-0.1));
    let change = stats::change(&then, &now, 0.02);
    assert_eq!(of_row(&then, &now, &change, 0.02, 2).0, Finding::Regression);
    let (finding, why) = of_row(&then, &now, &change, 0.02, 50);
    assert_eq!(finding, Finding::Undecided);
    assert_eq!(why.as_deref(), Some("too few rounds for one row of 50"));
}

#[test]
fn of_unchanged_code_few_gates_find_a_regression() {
    let trials = 200;
    let wrong = (0..trials)
        .filter(|i| {
            let (then, now) = (run(2 * i, 1.0, 0.3, 1.0), run(2 * i + 1, 1.0, 0.3, 1.0));
            let gate = judge(&then, &now, 0.0);
            gate.rows.iter().any(|r| r.row != GEOMETRIC_MEAN && r.finding == Finding::Regression)
        })
        .count();
    assert!(wrong as f64 <= 0.05 * trials as f64, "{wrong} of {trials}");
}

#[test]
fn a_row_that_is_lost_now_is_a_regression() {
    let (then, mut now) = (run(1, 1.0, 0.01, 1.0), run(2, 1.0, 0.01, 1.0));
    crate::views::tests::fail(&mut now, "b", "allod", "crashed");
    let gate = judge(&then, &now, 0.02);
    assert_eq!(gate.finding, Finding::Regression);
    assert_eq!(gate.rows.len(), 2, "no mean over fewer rows");
    let page = page(&gate);
    assert!(page.contains("lost") && page.contains("heap b of allod: crashed."), "{page}");
    // NaN stays NaN through JSON.
    let text = serde_json::to_string(&gate).unwrap();
    let back: Gate = serde_json::from_str(&text).unwrap();
    assert!(text.contains(r#""finding":"regression""#) && text.contains("null"), "{text}");
    assert!(back.rows[1].change.ratio.is_nan() && back.rows[0] == gate.rows[0], "{back:?}");
    // A row that was already lost then is not reported.
    let mut lost = then.clone();
    crate::views::tests::fail(&mut lost, "b", "allod", "crashed");
    assert_eq!(finding(&lost, &now), Finding::Fine);
}

#[test]
fn where_the_baseline_is_allods_own_another_takes_its_place() {
    let own = |report: Report| with_views(Report { views: Vec::new(), ..report }, "allod");
    let (then, now) = (own(run(1, 1.0, 0.01, 1.0)), own(run(2, 1.2, 0.01, 1.0)));
    let gate = judge(&then, &now, 0.02);
    assert_eq!((gate.rows[0].baseline.as_str(), gate.finding), ("mimalloc", Finding::Regression));
}

#[test]
fn a_baseline_that_failed_now_is_no_yardstick() {
    let (then, mut now) = (run(1, 1.0, 0.01, 1.0), run(2, 1.0, 0.01, 1.0));
    // It was twice as slow before it crashed.
    let own = |o: &&mut Observation| (o.workload.as_str(), o.arm.as_str()) == ("a", "mimalloc");
    now.observations.iter_mut().filter(own).for_each(|o| o.value *= 0.5);
    assert_eq!(finding(&then, &now), Finding::Regression);
    crate::views::tests::fail(&mut now, "a", "mimalloc", "crashed");
    let gate = judge(&then, &now, 0.02);
    assert_eq!((gate.rows[0].baseline.as_str(), gate.finding), ("system", Finding::Fine));
}

#[test]
fn where_nothing_is_allods_own_every_subject_is_judged() {
    let only = |mut report: Report| {
        report.views[0].arms.retain(|arm| arm != "allod");
        report
    };
    let gate = judge(&only(run(1, 1.0, 0.01, 1.0)), &only(run(2, 1.0, 0.01, 1.0)), 0.02);
    assert!(gate.rows.iter().all(|row| row.subject == "system"));
    assert_eq!(gate.finding, Finding::Fine);
}

#[test]
fn another_machine_another_amount_of_work_and_another_baseline_decide_nothing() {
    type Change = fn(&mut Report);
    let change: [(Change, &str); 4] = [
        (|r| r.machine.cpu = "Z80".into(), "processor: Z80 then"),
        (|r| r.machine.cores += 1, "number of processors"),
        (|r| r.provenance.settings = [("scale".into(), "9".into())].into(), "scale: 9 then, 1 now"),
        (|r| r.provenance.arms[0].origin = "mimalloc 9".into(), "mimalloc: mimalloc 9 then"),
    ];
    let complete = |mut report: Report| {
        report.machine.cpu = "Z81".into();
        report.provenance.settings.insert("scale".into(), "1".into());
        let (name, origin) = ("mimalloc".into(), "mimalloc 3".into());
        report.provenance.arms = vec![ArmRecord { name, origin, ..ArmRecord::default() }];
        report
    };
    let now = complete(run(2, 2.0, 0.01, 1.0));
    for (change, words) in change {
        let mut then = complete(run(1, 1.0, 0.01, 1.0));
        change(&mut then);
        let gate = judge(&then, &now, 0.02);
        assert_eq!(gate.finding, Finding::Undecided, "{words}");
        assert!(gate.obstacles[0].starts_with(words), "{:?}", gate.obstacles);
    }
    assert_eq!(finding(&complete(run(1, 1.0, 0.01, 1.0)), &now), Finding::Regression);
}

#[test]
fn a_suite_whose_mean_is_given_without_extreme_rows_is_judged_like_any_other() {
    for rows in [&["a"][..], &[]] {
        let extremes = |mut report: Report| {
            let view = report.views[0].view.clone();
            report.views[0].view = view.with_extremes(rows);
            report
        };
        let (then, now) = (extremes(run(1, 1.0, 0.01, 1.0)), extremes(run(2, 1.2, 0.01, 1.0)));
        let gate = judge(&then, &now, 0.02);
        assert_eq!((gate.rows.len(), gate.finding), (3, Finding::Regression), "{rows:?}");
    }
}

#[test]
fn rows_that_have_no_mean_are_judged_only_where_they_are_exact() {
    let rows_only = |metric: &Metric| {
        let mut report = run(1, 1.0, 0.01, 1.0);
        report.observations.iter_mut().for_each(|o| o.metric = metric.clone());
        let view = View::new("frame-instructions", ["a", "b"], metric);
        report.views[0].view = View { ratios: Ratios::Rows, ..view };
        judge(&report, &report, 0.02)
    };
    assert_eq!(rows_only(&EXECUTED_PER_OPERATION).finding, Finding::Fine);
    assert_eq!(rows_only(&TIME).obstacles, ["the two runs have no row in common"]);
}

#[test]
fn runs_without_a_row_in_common_decide_nothing() {
    let mut then = run(1, 1.0, 0.01, 1.0);
    then.observations.iter_mut().for_each(|o| o.suite = "frame".into());
    let gate = judge(&then, &run(2, 1.0, 0.01, 1.0), 0.02);
    assert_eq!(gate.finding, Finding::Undecided);
    assert_eq!(gate.obstacles, ["the two runs have no row in common"]);
}

#[test]
fn counted_instructions_are_exact_in_one_round_and_on_any_processor() {
    let counted = |slower: f64| {
        let mut report = run(1, slower, 0.0, 1.0);
        report.observations.retain(|o| o.round == 1 && o.metric == TIME);
        report.observations.iter_mut().for_each(|o| o.metric = EXECUTED);
        report.views.clear();
        let arms = ["allod", "mimalloc"];
        let against = Against { arms: &arms, baseline: "mimalloc", apart: None, threshold: 0.02 };
        View::new("heap-instructions", ["a", "b"], &EXECUTED).add_to(&mut report, against);
        report
    };
    let mut then = counted(1.0);
    then.machine.cpu = "Z80".into();
    assert_eq!(finding(&then, &counted(1.0)), Finding::Fine);
    assert_eq!(finding(&then, &counted(1.05)), Finding::Regression);
    assert_eq!(finding(&then, &counted(1.01)), Finding::Fine);
}
