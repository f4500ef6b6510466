//! The frame suite: `allod bench frame`.
//!
//! Subjects are libraries linked into this program, interleaved; each sample is a separate process.
//! Each workload writes into what it allocates and checks it before the frame ends; begin,
//! allocations, writes and the end are timed, the check is not.

mod bare;
mod latency;
mod mallocs;
mod subjects;
mod suite;
mod targets;
mod threads;
mod waste;
mod work;
mod workloads;

pub use workloads::WORKLOADS;

use crate::arenas::ARENAS;
use crate::{Request, components, required};
use allod_lab::heap::QUANTILES;
use allod_lab::inprocess::{Bench, instructions_suite};
use allod_lab::model::{Report, Requirement, metric};
use allod_lab::stats::FEWEST;
use allod_lab::suite_table::SuiteTable;
use allod_lab::table::counted;
use suite::suite;

/// The suite's name in reports.
pub const SUITE: &str = "frame";
/// The name of the bare bump of a pointer, which shows what a row costs with the simplest allocator. It
/// is not a limit: an allocator that places blocks better is faster.
pub const BARE: &str = "bare";

/// Rows that write one word in each large block. They reward the placement of blocks: blocks whose size is
/// a multiple of 1 KiB, placed end to end, begin in few sets of the L1 cache.
pub const ONE_WORD: &[&str] = &["single-1k", "single-4k", "single-64k"];

/// Allod's frames with the features that count: statistics, tags, budgets, behaviour.
pub const FULL: &str = "full";

/// The subjects' names, in the order of the tables.
pub const SUBJECTS: [&str; 12] = [
    "allod",
    FULL,
    ARENAS[0],
    ARENAS[1],
    ARENAS[2],
    ARENAS[3],
    ARENAS[4],
    "blink-alloc",
    "malloc",
    "mimalloc",
    "box",
    BARE,
];

/// The suite as it was asked for, to be run.
///
/// # Errors
/// Names an unknown workload or subject, and those that exist.
pub fn prepare(request: &Request) -> Result<Bench<'static>, String> {
    Ok(request.apply(bench(request.quick))?.extremes(ONE_WORD))
}

/// The whole suite; `quick` takes shorter samples.
pub(crate) fn bench(quick: bool) -> Bench<'static> {
    suite().sample_ms(if quick { 2.0 } else { 5.0 })
}

/// The requirements on the suite, and their results.
#[must_use]
pub fn required(request: &Request, report: &Report) -> Vec<Requirement> {
    required::judged(
        SUITE,
        &metric::TIME,
        targets::targets(report),
        report,
        request.terms.threshold,
    )
}

/// The tables that `allod bench frame` prints.
#[must_use]
pub fn tables(request: &Request, report: &Report) -> String {
    let suite = if request.terms.counting { instructions_suite(SUITE) } else { SUITE.into() };
    let mut all = SuiteTable::of(report, &suite, &request.baseline);
    all.subjects.sort_by_key(|s| SUBJECTS.iter().position(|known| known == s));
    all.subjects.retain(|s| *s != BARE);
    all.floor = Some(BARE);
    if request.terms.counting {
        return format!(
            "Instructions per operation, of the parts that are timed otherwise, counted by callgrind in one\n\
             run; * the best of its row.\n\n{}\nTimes fewer than {}.\n\n{}\n{}",
            all.counts(),
            request.baseline,
            all.ratio_rows(),
            all.losses()
        );
    }
    let (apart, main) = split(&all);
    let mut text = format!(
        "Time: nanoseconds per operation, medians of {}; * the best of its row.\n\
         An operation is an allocation with its writes and its share of begin and end; in batch rows\n\
         a batch of {}. \"{FULL}\" is allod with statistics, tags, budgets and the behaviour filter;\n\
         \"{BARE}\" a bare bump of a pointer (in begin-end, two calls). Arenas that are \"aligned\", go\n\
         \"up\" or \"down\" have a minimum alignment. A subject without such a call has no number.\n\n{}\n",
        counted(report.rounds(), "interleaved round"),
        work::COUNT,
        main.time()
    );
    text += &format!(
        "Times faster than {}: above 1 is better; + GO, - NO-GO and = EQUIVALENT at ±{} %,\n\
         nothing where it is undecided, as with fewer than {FEWEST} rounds.\n\n{}\n",
        request.baseline,
        request.terms.threshold * 100.0,
        main.ratios()
    );
    if !apart.workloads.is_empty() {
        text += &format!(
            "One word in each large block: these rows depend on the cache sets in which blocks begin. The rows\n\
             that end in -whole write all of it.\n\n{}\n{}\n",
            apart.time(),
            apart.ratio_rows()
        );
    }
    text += &latency(&all);
    text += &required::table(&report.required, request.terms.threshold);
    text + &waste::table() + &components::frame() + &all.losses()
}

/// The rows that write one word in each large block, and all others.
fn split<'a>(all: &SuiteTable<'a>) -> (SuiteTable<'a>, SuiteTable<'a>) {
    let (apart, main) = all.workloads.iter().partition(|w| ONE_WORD.contains(w));
    (SuiteTable { workloads: apart, ..all.clone() }, SuiteTable { workloads: main, ..all.clone() })
}

/// The quantiles of the frames' times.
fn latency(all: &SuiteTable) -> String {
    let suite = format!("{SUITE}-{}", latency::NAME);
    if all.report.results.iter().all(|r| r.suite != suite) {
        return String::new();
    }
    let table = SuiteTable { suite: &suite, workloads: QUANTILES.to_vec(), ..all.clone() };
    format!(
        "Latency: nanoseconds for a frame of 20 blocks while another thread fills arenas and gives them\n\
         back, medians of the rounds. The cost of the clock is included.\n\n{}\n\
         Times shorter than {}'s.\n\n{}\n",
        table.time(),
        table.baseline,
        table.ratio_rows()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use allod_lab::driver::{Rule, Terms};

    #[test]
    fn every_subject_of_a_workload_does_the_same_work() {
        // What takes less than a tenth of a second a call.
        let short = WORKLOADS.iter().filter(|w| !w.0.starts_with("single-64k"));
        let chosen = short.map(|w| w.0.into()).collect::<Vec<_>>();
        assert_eq!(suite().only(&chosen).unwrap().check(), [""; 0]);
    }

    #[test]
    fn no_workload_is_called_like_a_subject() {
        assert!(WORKLOADS.iter().all(|w| !SUBJECTS.contains(&w.0)));
    }

    #[test]
    fn every_workload_is_listed_with_what_it_does() {
        let listed = WORKLOADS.map(|w| w.0.to_owned());
        assert_eq!(suite().workloads(), listed);
        assert!(WORKLOADS.iter().all(|w| !w.1.is_empty()));
        assert!(ONE_WORD.iter().all(|row| listed.contains(&(*row).into())));
    }

    #[test]
    fn every_subject_is_known_to_the_tables() {
        let mut subjects = suite().subjects();
        subjects.sort_by_key(|s| SUBJECTS.iter().position(|known| known == s));
        assert_eq!(subjects, SUBJECTS);
    }

    #[test]
    fn an_unknown_baseline_is_answered_with_the_nearest() {
        let request = Request {
            only: vec![],
            baseline: "bumpscope".into(),
            terms: Terms::of(Rule::rounds(1)),
            started_with: vec![],
            quick: true,
        };
        assert!(prepare(&request).err().unwrap().contains("did you mean bump-scope?"));
    }
}
