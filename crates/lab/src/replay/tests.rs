//! Replays of programs that the tests made up.

use super::*;
use crate::driver::{Rule, Terms};
use crate::subject::{SYSTEM, Subject};
use allod_trace::census::Census;
use allod_trace::writer::Writer;
use allod_trace::{Call, Event, FileHeader};
use std::collections::BTreeMap;

/// A program that is made up call by call; addresses are as good as names.
struct Program {
    writer: Writer<Vec<u8>>,
    next: u64,
}

impl Program {
    fn new() -> Self {
        let header = FileHeader::here(1, 1, b"made-up\0");
        Self { writer: Writer::new(Vec::new(), &header).unwrap(), next: 0 }
    }

    fn call(&mut self, thread: u32, call: Call) {
        let event = Event { sequence: self.next, call };
        self.next = event.end() + 1;
        self.writer.record(thread, &event, 0).unwrap();
    }

    fn save(self, name: &str) -> Saved {
        let file = std::env::temp_dir().join(format!("{name}-{}.trace", std::process::id()));
        std::fs::write(&file, self.writer.finish(0).unwrap()).unwrap();
        Saved(file)
    }
}

struct Saved(PathBuf);

impl Drop for Saved {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Blocks of all kinds that `threads` threads allocate, resize and free in random order.
fn wild(threads: u32) -> Program {
    let mut program = Program::new();
    let mut rng = crate::rng::Rng::new(7);
    let mut live: BTreeMap<u64, u64> = BTreeMap::new();
    for i in 1..6000u64 {
        let thread = 1 + rng.below(threads as usize) as u32;
        let (size, address) = (rng.below(5000) as u64, 64 * i);
        let some = live.keys().nth(rng.below(live.len().max(1))).copied();
        let call = match (rng.below(8), some) {
            (0, _) => Call::Calloc { size, address },
            (1, _) => Call::Aligned { size, align_log2: rng.below(13) as u8, address },
            (2 | 3, Some(old)) => Call::Realloc { old, size: size + 1, new: address, took: 1 },
            (4..=6, Some(old)) if live.len() > 50 => Call::Free { address: old },
            _ => Call::Malloc { size, address },
        };
        if let Call::Realloc { old, .. } | Call::Free { address: old } = call {
            live.remove(&old);
        }
        if !matches!(call, Call::Free { .. }) {
            live.insert(address, size);
        }
        program.call(thread, call);
    }
    program
}

fn on(arm: &Arm, replay: &Replay) -> Outcome {
    let turn = Turn { round: 1, position: 0, padding: 0, processor: None, counting: false };
    replay.run(arm, &turn).unwrap()
}

fn value(outcome: &Outcome, wanted: &Metric) -> f64 {
    assert_eq!(outcome.failure, None);
    outcome.values.iter().find(|(metric, _)| metric == wanted).expect("it was measured").1
}

#[test]
fn one_thread_reaches_the_very_peak_of_the_program() {
    let saved = wild(1).save("one");
    let census = Census::of(&Trace::open(&saved.0).unwrap());
    let replay = Replay::of(&saved.0, true).unwrap();
    assert_eq!((replay.calls, replay.threads), (census.events, 1));
    let outcome = on(&Arm::new(SYSTEM), &replay);
    assert_eq!(value(&outcome, &LIVE_PEAK), census.peak.bytes as f64);
    assert!(value(&outcome, &metric::TIME) > 0.0);
    let peak = value(&outcome, &metric::PEAK);
    assert!(peak > census.peak.bytes as f64 / 2048.0 && peak < 20_000.0, "{peak} KiB");
}

#[test]
fn blocks_that_wander_between_threads_keep_their_contents() {
    let saved = wild(5).save("wander");
    let replay = Replay::of(&saved.0, true).unwrap();
    assert_eq!((replay.threads, replay.workload("x").pinned), (5, false));
    for _ in 0..5 {
        assert_eq!(on(&Arm::new(SYSTEM), &replay).failure, None);
    }
}

#[test]
fn memory_over_time_has_a_point_for_each_sixtieth() {
    let saved = wild(3).save("points");
    let points = Replay::of(&saved.0, false).unwrap().memory(&Arm::new(SYSTEM)).unwrap();
    assert_eq!(points.len(), 60);
    assert!(points[59] > points[0], "{points:?}");
}

#[test]
fn a_block_of_the_wrong_contents_is_found_on_request() {
    let saved = wild(1).save("broken");
    // The null subject by another name: its blocks overlap.
    let broken = Arm { preload: Some(files::null_subject().unwrap()), ..Arm::new("broken") };
    let failure = on(&broken, &Replay::of(&saved.0, true).unwrap()).failure.unwrap();
    assert!(failure.contains("a block"), "{failure}");
    assert_eq!(on(&broken, &Replay::of(&saved.0, false).unwrap()).failure, None);
}

#[test]
fn a_report_has_time_and_memory_of_every_subject() {
    let saved = wild(2).save("report");
    let subjects =
        ["a", "b"].map(|name| Subject { name: name.into(), library: None, origin: String::new() });
    let replays = [Replay::of(&saved.0, false).unwrap()];
    let contest = Contest { subjects: &subjects, baseline: "a", terms: Terms::of(Rule::rounds(1)) };
    let request = Request { contest, replays: &replays };
    let report = run(&request, |_| {}).unwrap();
    assert_eq!(report.failures, []);
    assert!(report.comparison(SUITE, &replays[0].name, "b").is_some());
    let [a, b] = &report.series[..] else { panic!("{:?}", report.series) };
    assert_eq!((a.arm.as_str(), b.arm.as_str(), a.points.len()), ("a", "b", 60));
    assert_eq!(a.points[59][0], replays[0].calls as f64, "the last point is at the end");
    let text = tables(&request, &report);
    assert!(text.contains("Memory over time") && text.contains("nanoseconds per call"), "{text}");
}

#[test]
fn instructions_are_those_of_the_calls() {
    let saved = wild(1).save("count");
    let turn = Turn { round: 1, position: 0, padding: 0, processor: None, counting: true };
    let outcome = Replay::of(&saved.0, false).unwrap().run(&Arm::new(SYSTEM), &turn).unwrap();
    let count = value(&outcome, &metric::EXECUTED_PER_OPERATION);
    assert!((20.0..5000.0).contains(&count), "{count}");
}

#[test]
fn two_traces_of_one_name_are_refused() {
    let saved = wild(1).save("same");
    let twice = [saved.0.clone(), saved.0.clone()];
    let words = Replay::all(&twice, false).unwrap_err();
    assert!(words.contains("same") && words.contains("rename one"), "{words}");
}

#[test]
fn other_files_are_refused() {
    let missing = Replay::of(Path::new("/no/such.trace"), false).unwrap_err();
    assert!(missing.contains("/no/such.trace"), "{missing}");
    let foreign = Replay::of(&std::env::current_exe().unwrap(), false).unwrap_err();
    assert!(foreign.contains("not an allocation trace"), "{foreign}");
}
