//! The driver on arms with invented behaviour, which can produce every case.

use super::*;
use crate::model::metric::TIME;
use crate::model::{Work, values};
use crate::rng::Rng;
use std::cell::RefCell;

/// Calls a function for every turn.
struct Scripted<F>(RefCell<F>);

impl<F: FnMut(&Arm, &Turn) -> Outcome> Work for Scripted<F> {
    fn run(&self, arm: &Arm, turn: &Turn) -> Result<Outcome, String> {
        Ok((self.0.borrow_mut())(arm, turn))
    }
}

fn workload<'a>(script: impl FnMut(&Arm, &Turn) -> Outcome + 'a) -> Workload<'a> {
    Workload {
        name: "w".into(),
        pinned: false,
        arms: vec![],
        most_rounds: None,
        work: Box::new(Scripted(RefCell::new(script))),
    }
}

fn measure(rule: Rule, workloads: &[Workload], steps: &mut Vec<(usize, usize)>) -> Seen {
    let plan = Plan {
        suite: "s",
        workloads,
        arms: &[Arm::new("base"), Arm::new("other")],
        baseline: "base",
        apart: None,
        watched: TIME,
        terms: Terms { seed: 3, ..Terms::of(rule) },
    };
    run(&plan, |s| steps.push((s.done, s.total))).unwrap()
}

fn took(ns: f64) -> Outcome {
    Outcome { values: vec![(TIME, ns)], loops_ns: vec![100.0, 100.0], ..Outcome::default() }
}

fn rounds(seen: &Seen, arm: &str) -> usize {
    values(&seen.observations, "w", arm, &TIME).len()
}

#[test]
fn a_fixed_number_of_rounds_follows_a_warm_up_and_every_step_is_announced() {
    let mut steps = Vec::new();
    let seen = measure(Rule::rounds(4), &[workload(|_, _| took(1.0))], &mut steps);
    assert_eq!((rounds(&seen, "base"), rounds(&seen, "other")), (4, 4));
    let warm_up: Vec<_> = seen.observations.iter().filter(|o| o.round == 0).collect();
    assert!(warm_up.iter().all(|o| !o.counts) && !warm_up.is_empty());
    assert_eq!(steps, (0..10).map(|i| (i, 10)).collect::<Vec<_>>());
}

#[test]
fn layout_differs_between_processes() {
    let mut paddings = Vec::new();
    let script = |_: &Arm, turn: &Turn| {
        paddings.push(turn.padding);
        took(1.0)
    };
    measure(Rule::rounds(10), &[workload(script)], &mut vec![]);
    paddings.sort_unstable();
    paddings.dedup();
    assert!(paddings.len() > 10, "{paddings:?}");
}

#[test]
fn rounds_go_on_until_the_interval_is_narrow_enough() {
    let noisy = |spread: f64| {
        let mut rng = Rng::new(5);
        move |_: &Arm, _: &Turn| took(100.0 + spread * rng.below(1000) as f64 / 1000.0)
    };
    let rule = Rule::until(0.01, 200);
    let few = rounds(&measure(rule, &[workload(noisy(1.0))], &mut vec![]), "other");
    let many = rounds(&measure(rule, &[workload(noisy(10.0))], &mut vec![]), "other");
    let most = rounds(&measure(rule, &[workload(noisy(900.0))], &mut vec![]), "other");
    assert_eq!(few, 6);
    assert!((12..150).contains(&many), "{many}");
    assert_eq!(most, 200);
}

#[test]
fn time_that_is_up_ends_the_measurement_with_what_there_is() {
    let slow = |_: &Arm, _: &Turn| {
        std::thread::sleep(Duration::from_millis(5));
        took(1.0)
    };
    let rule = Rule { max_time: Some(Duration::from_millis(200)), ..Rule::rounds(10_000) };
    let workloads = [workload(slow), workload(slow)];
    let begun = Instant::now();
    let seen = measure(rule, &workloads, &mut vec![]);
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert!((1..40).contains(&rounds(&seen, "base")), "both workloads had a share");
    assert!(!seen.stopped);
}

#[test]
fn an_arm_that_fails_is_a_row_that_says_so_and_the_others_go_on() {
    let mut turns = 0;
    let script = |arm: &Arm, turn: &Turn| {
        if arm.name == "other" {
            turns += 1;
            if turn.round == 2 {
                return Outcome::failed("it crashed");
            }
        }
        took(1.0)
    };
    let seen = measure(Rule::rounds(6), &[workload(script)], &mut vec![]);
    assert_eq!(turns, 3, "nobody runs it again");
    assert_eq!(rounds(&seen, "base"), 6);
    assert_eq!(seen.failures.len(), 1);
    assert_eq!(seen.failures[0].reason, "it crashed");
}

#[test]
fn when_all_have_failed_there_is_nothing_more_to_do() {
    let seen = measure(Rule::rounds(100), &[workload(|_, _| Outcome::failed("no"))], &mut vec![]);
    assert_eq!((seen.failures.len(), seen.observations.len()), (2, 0));
}

#[test]
fn an_arm_that_computes_something_else_has_failed() {
    let script =
        |arm: &Arm, _: &Turn| Outcome { checksum: Some(arm.name.len() as u64), ..took(1.0) };
    let seen = measure(Rule::rounds(3), &[workload(script)], &mut vec![]);
    assert_eq!(seen.failures[0].subject, "other");
    assert_eq!(seen.failures[0].reason, "its checksum differs from that of base");
}

#[test]
fn a_disturbed_round_is_marked_and_repeated() {
    let script = |arm: &Arm, turn: &Turn| {
        let slow = turn.round == 2 && arm.name == "other";
        Outcome { loops_ns: vec![100.0, if slow { 150.0 } else { 101.0 }], ..took(1.0) }
    };
    let seen = measure(Rule::rounds(5), &[workload(script)], &mut vec![]);
    assert_eq!(seen.noise, Noise { disturbed: 1, repeated: 1 });
    let marked: Vec<_> = seen.observations.iter().filter(|o| o.disturbed).collect();
    assert!(marked.iter().all(|o| o.round == 2 && !o.counts) && !marked.is_empty());
    assert_eq!(rounds(&seen, "base"), 5);
}

#[test]
fn what_was_measured_before_a_stop_is_kept_in_whole_rounds() {
    let mut turns = 0;
    let script = |_: &Arm, _: &Turn| {
        turns += 1;
        Outcome { stopped: turns > 9, ..took(1.0) }
    };
    let seen = measure(Rule::rounds(100), &[workload(script)], &mut vec![]);
    assert!(seen.stopped);
    // Two turns of warm-up, three whole rounds, and one turn that stands alone.
    assert_eq!((rounds(&seen, "base"), rounds(&seen, "other")), (3, 3));
    assert_eq!(seen.observations.iter().filter(|o| o.metric == TIME).count(), 9);
}

#[test]
fn an_arm_takes_part_only_where_it_can() {
    let only_base = Workload { arms: vec!["base".into()], ..workload(|_, _| took(1.0)) };
    let seen = measure(Rule::until(0.01, 9), &[only_base], &mut vec![]);
    assert_eq!((rounds(&seen, "base"), rounds(&seen, "other")), (6, 0));
}
