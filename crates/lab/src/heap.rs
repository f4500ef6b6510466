//! The heap suite: `allod bench heap`.
//!
//! Each workload is a run of `allod-workload`, a small C program whose calls to malloc and free go to
//! whatever library is preloaded. It times only its measured loop, by its own clock, and says which
//! library served it: a subject that did not is reported as failed.

use crate::Step;
use crate::files;
use crate::model::Report;
use crate::process::{End, Launch, Used, quiet_processor};
use crate::samples::Samples;
use crate::schedule;
use crate::stats::{FEWEST, median};
use crate::subject::{Subject, field, same_file};
use crate::suite_table::SuiteTable;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The suite's name in reports.
pub const SUITE: &str = "heap";
/// The suite of memory still held one second after a burst, in KiB above the start.
pub const KEPT: &str = "heap-kept";
/// The suite of how long groups of 20 operations take, by quantile.
pub const LATENCY: &str = "heap-latency";
/// The quantiles of that suite, as its workloads are called.
pub const QUANTILES: [&str; 5] = ["p50", "p99", "p99.9", "p99.99", "longest"];
/// The name of the null subject.
pub const NULL: &str = "null";

/// Rounds of the workload that idles for a second each time.
const IDLE_ROUNDS: usize = FEWEST;

/// A workload of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// What it does, in a few words.
    pub about: &'static str,
    /// Whether it uses several threads.
    pub threads: bool,
}

const fn single(name: &'static str, about: &'static str) -> Workload {
    Workload { name, about, threads: false }
}

const fn threaded(name: &'static str, about: &'static str) -> Workload {
    Workload { name, about, threads: true }
}

/// All workloads, in the order of the table.
pub const WORKLOADS: [Workload; 30] = [
    single("random-mixed", "400 slots, 16-1040 bytes: a random one is freed and allocated anew"),
    single("band-mix", "400 slots, 257-2048 bytes (bands B4 to B6 by their widths)"),
    single("slots-20k", "20,000 slots, 16-1040 bytes: more than the caches hold"),
    single("pairs-16", "allocate and free 16 bytes"),
    single("pairs-24", "allocate and free 24 bytes"),
    single("pairs-64", "allocate and free 64 bytes"),
    single("pairs-256", "allocate and free 256 bytes"),
    single("pairs-1024", "allocate and free 1024 bytes"),
    single("pairs-3000", "allocate and free 3000 bytes"),
    single("batch-40", "1000 blocks of 40 bytes, freed oldest first"),
    single("fifo-700", "1000 blocks of 700 bytes, freed oldest first"),
    single("lifo", "1000 blocks of 16-512 bytes, freed newest first"),
    single("fifo", "1000 blocks of 16-512 bytes, freed oldest first"),
    single("realloc-grow", "64 vectors that grow by half up to 64 KiB"),
    single(
        "realloc-64m",
        "one buffer doubles from 4 KiB to 64 MiB; an operation is one such growth",
    ),
    single("calloc", "400 slots, 16-2048 bytes, zeroed"),
    single("aligned", "400 slots, 16-2048 bytes aligned to 32-4096"),
    single("blocks-8k-600k", "64 slots, 8-600 KiB, first and last word touched"),
    single("medium-25k", "80 MB in blocks of 25,000 bytes, then all freed; first word written"),
    single("medium-25k-whole", "the same, every block written whole"),
    single("medium-150k", "80 MB in blocks of 150,000 bytes, then all freed; first word written"),
    single("medium-150k-whole", "the same, every block written whole"),
    single("medium-400k", "80 MB in blocks of 400,000 bytes, then all freed; first word written"),
    single("medium-400k-whole", "the same, every block written whole"),
    single("large", "16 slots, 256 KiB-4 MiB, every page touched"),
    threaded("producer-consumer", "half of the threads only allocate, the others only free"),
    threaded("larson", "servers: blocks wander between threads, threads replace each other"),
    threaded("thread-churn", "threads that live for 64 allocations"),
    single("burst-idle", "120 MiB in small blocks, all freed, then idle for a second"),
    threaded(
        "latency",
        "groups of 20 operations timed while another thread fills and frees memory",
    ),
];

/// What to measure.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The allocators, the baseline among them.
    pub subjects: &'a [Subject],
    /// The name of the subject the others are compared with.
    pub baseline: &'a str,
    /// The workloads.
    pub workloads: &'a [Workload],
    /// Rounds that count.
    pub runs: usize,
    /// How much of each workload's full length to run: 1 for all of it.
    pub scale: f64,
    /// Threads of the workloads that use several.
    pub threads: usize,
    /// The smallest difference that counts, 0.01 for ±1 %.
    pub threshold: f64,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// Nanoseconds an operation, and peak memory.
    pub time: Samples,
    /// The workloads' own cost, measured on the null subject.
    pub null: Samples,
    /// KiB still held one second after a burst, above the start.
    pub kept: Samples,
    /// Nanoseconds per group of 20 operations, by quantile.
    pub latency: Samples,
    /// The same on the null subject: the clock's own cost and the loop's.
    pub null_latency: Samples,
    /// The share of a burst that went back, by subject, from 0 to 1; one value a round.
    pub given_back: Vec<(String, Vec<f64>)>,
}

/// Finds workloads by name; all of them for no names.
///
/// # Errors
/// Names what is unknown, and what there is.
pub fn workloads(names: &[String]) -> Result<Vec<Workload>, String> {
    if let Some(name) = names.iter().find(|n| WORKLOADS.iter().all(|w| w.name != n.as_str())) {
        let known: Vec<&str> = WORKLOADS.iter().map(|w| w.name).collect();
        return Err(format!("no workload {name:?}; there are: {}", known.join(", ")));
    }
    let wanted = |w: &&Workload| names.is_empty() || names.iter().any(|n| n == w.name);
    Ok(WORKLOADS.iter().filter(wanted).copied().collect())
}

/// Runs every workload on every subject and on the null subject, interleaved within each workload.
///
/// # Errors
/// When a part of the laboratory is missing; a subject's failure is recorded instead.
pub fn run(request: &Request, mut progress: impl FnMut(&Step)) -> Result<Measured, String> {
    let mut subjects = request.subjects.to_vec();
    subjects.push(Subject {
        name: NULL.into(),
        library: Some(files::null_subject()?),
        origin: "the workload's own cost".into(),
    });
    let bench = Bench { request, program: files::workload()?, processor: quiet_processor() };
    let mut measured = Measured::new();
    let total = request.workloads.iter().map(|w| subjects.len() * (bench.rounds(w) + 1)).sum();
    let mut done = 0;
    for workload in request.workloads {
        for subject in &subjects {
            // Results are reported in this order, whatever order they are measured in.
            measured.samples(subject).cell(workload.name, &subject.name);
            if workload.name == "latency" {
                for name in QUANTILES {
                    measured.latencies(subject).cell(name, &subject.name);
                }
            }
        }
        for turn in schedule::interleaved(bench.rounds(workload) + 1, subjects.len(), 0x5EED) {
            let subject = &subjects[turn.subject];
            progress(&Step { done, total, workload: workload.name, subject: &subject.name });
            done += 1;
            let failed =
                measured.samples(subject).cell(workload.name, &subject.name).failure.is_some();
            if failed {
                continue;
            }
            // The warm-up brings the program and the library into memory; a tenth is enough.
            let warm_up = turn.round == 0;
            let used = bench.launch(workload, subject, if warm_up { 0.1 } else { 1.0 })?;
            measured.record(workload, subject, &used, warm_up);
        }
    }
    Ok(measured)
}

struct Bench<'a> {
    request: &'a Request<'a>,
    program: PathBuf,
    processor: Option<usize>,
}

impl Bench<'_> {
    fn rounds(&self, workload: &Workload) -> usize {
        let idles = workload.name == "burst-idle";
        if idles { self.request.runs.min(IDLE_ROUNDS) } else { self.request.runs }
    }

    fn launch(&self, workload: &Workload, subject: &Subject, part: f64) -> Result<Used, String> {
        let millionths = (self.request.scale * part * 1e6).ceil().max(1.0) as u64;
        let mut arguments: Vec<OsString> = vec![
            "--scale".into(),
            millionths.to_string().into(),
            "--threads".into(),
            self.request.threads.to_string().into(),
        ];
        if subject.name == NULL {
            arguments.push("--no-check".into());
        }
        arguments.push(workload.name.into());
        Launch {
            preload: subject.library.as_deref(),
            processor: self.processor.filter(|_| !workload.threads),
            limit: Some(Duration::from_secs(180)),
            ..Launch::new(&self.program, &arguments)
        }
        .run()
    }
}

/// What a workload said of one run.
struct Answer {
    ns_per_operation: f64,
    kept_kib: f64,
    given_back: f64,
    /// In the order of [`QUANTILES`]; only `latency` has them.
    quantiles: Option<[f64; 5]>,
}

fn answer(subject: &Subject, used: &Used) -> Result<Answer, String> {
    if used.end != End::Exit(0) {
        // The workload says itself what it found wrong; a crash has no words.
        let words = used.stderr.lines().find_map(|l| l.strip_prefix("allod-workload: "));
        return Err(words.map_or_else(|| format!("it {}", used.end.words()), str::to_owned));
    }
    let serving = Path::new(field(&used.stdout, "malloc"));
    let own = match &subject.library {
        Some(library) => same_file(serving, library),
        None => serving.file_name().is_some_and(|f| f.to_string_lossy().starts_with("libc")),
    };
    if !own {
        return Err(format!("{} served malloc instead", serving.display()));
    }
    let number = |name| field(&used.stdout, name).parse::<f64>().map_err(|_| format!("no {name}"));
    let (before, peak) = (number("rss_before_kib")?, number("rss_peak_kib")?);
    let kept_kib = (number("rss_after_kib")? - before).max(0.0);
    Ok(Answer {
        ns_per_operation: number("ns")?.max(1.0) / number("operations")?,
        kept_kib,
        given_back: 1.0 - kept_kib / (peak - before).max(1.0),
        quantiles: quantiles(&used.stdout),
    })
}

fn quantiles(stdout: &str) -> Option<[f64; 5]> {
    let mut found = [0.0; 5];
    for (value, name) in found.iter_mut().zip(QUANTILES) {
        *value = field(stdout, name).parse().ok()?;
    }
    Some(found)
}

impl Measured {
    fn new() -> Self {
        Self {
            time: Samples::new(SUITE, "ns/op"),
            null: Samples::new(SUITE, "ns/op"),
            kept: Samples::new(KEPT, "KiB"),
            latency: Samples::new(LATENCY, "ns/20 ops"),
            null_latency: Samples::new(LATENCY, "ns/20 ops"),
            given_back: Vec::new(),
        }
    }

    fn samples(&mut self, subject: &Subject) -> &mut Samples {
        if subject.name == NULL { &mut self.null } else { &mut self.time }
    }

    fn latencies(&mut self, subject: &Subject) -> &mut Samples {
        if subject.name == NULL { &mut self.null_latency } else { &mut self.latency }
    }

    fn record(&mut self, workload: &Workload, subject: &Subject, used: &Used, warm_up: bool) {
        let cell = self.samples(subject).cell(workload.name, &subject.name);
        let answer = match answer(subject, used) {
            Ok(answer) => answer,
            Err(why) => {
                cell.failure = Some(why);
                if workload.name == "latency" {
                    // Its earlier rounds have no partners any more.
                    self.latencies(subject).cells.retain(|c| c.subject != subject.name);
                }
                return;
            }
        };
        if warm_up {
            return;
        }
        cell.costs.push(answer.ns_per_operation);
        cell.peak_rss_kib.push(used.peak_rss_kib);
        for (name, ns) in QUANTILES.iter().zip(answer.quantiles.into_iter().flatten()) {
            self.latencies(subject).cell(name, &subject.name).costs.push(ns);
        }
        if workload.name == "burst-idle" && subject.name != NULL {
            self.kept.cell(workload.name, &subject.name).costs.push(answer.kept_kib);
            match self.given_back.iter_mut().find(|(name, _)| *name == subject.name) {
                Some((_, shares)) => shares.push(answer.given_back),
                None => self.given_back.push((subject.name.clone(), vec![answer.given_back])),
            }
        }
    }

    /// The tables that `allod bench heap` prints.
    pub fn tables(&self, request: &Request, report: &Report) -> String {
        let table = SuiteTable {
            report,
            suite: SUITE,
            workloads: request.workloads.iter().map(|w| w.name).collect(),
            subjects: request.subjects.iter().map(|s| s.name.as_str()).collect(),
            baseline: request.baseline,
            floor: Some(NULL),
        };
        let mut text = format!(
            "Time: nanoseconds an operation, medians of {} interleaved rounds; * the best of its row.\n\
             The column \"{NULL}\" is what the workload costs without an allocator.\n\n{}\n",
            request.runs,
            table.time()
        );
        text += &format!(
            "Times faster than {}: above 1 is better; + GO, - NO-GO and = EQUIVALENT at ±{} %,\n\
             nothing where it is undecided, as with fewer than {FEWEST} rounds.\n\n{}\n",
            request.baseline,
            request.threshold * 100.0,
            table.ratios()
        );
        text +=
            &format!("Net time: nanoseconds less the null subject's.\n\n{}\n", table.net_time());
        text += &format!("Peak memory: MiB, largest resident set.\n\n{}\n", table.memory());
        for subject in request.subjects {
            if let Some((name, shares)) = self.given_back.iter().find(|(n, _)| *n == subject.name) {
                let share = (100.0 * median(shares)).round().max(0.0);
                text +=
                    &format!("{name} gave {share} % of a burst back in a second of idleness.\n");
            }
        }
        if !self.latency.cells.is_empty() {
            text += &latency_tables(&table);
        }
        text + &table.losses()
    }

    /// The report: time with comparisons, the null subject's and the kept memory's results without.
    pub fn report(&self, baseline: &str, threshold: f64) -> Report {
        let mut report = Report::new();
        self.time.report_to(&mut report, baseline, threshold);
        self.null.results_to(&mut report);
        self.kept.results_to(&mut report);
        self.latency.rows_to(&mut report, baseline, threshold);
        self.null_latency.results_to(&mut report);
        report
    }
}

fn latency_tables(heap: &SuiteTable) -> String {
    let table = SuiteTable { suite: LATENCY, workloads: QUANTILES.to_vec(), ..heap.clone() };
    format!(
        "\nLatency: nanoseconds per group of 20 operations while another thread fills and frees\n\
         memory, medians of the rounds. The column \"{NULL}\" holds the clock's own cost.\n\n{}\n\
         Times shorter than {}'s.\n\n{}\n",
        table.time(),
        table.baseline,
        table.ratio_rows()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::GEOMETRIC_MEAN;

    #[test]
    fn names_are_unique_and_found() {
        assert_eq!(workloads(&[]).unwrap().len(), WORKLOADS.len());
        for w in WORKLOADS {
            assert_eq!(workloads(&[w.name.into()]).unwrap(), [w]);
        }
        assert!(workloads(&["pears-16".into()]).unwrap_err().contains("pairs-16"));
    }

    #[test]
    fn every_workload_runs_on_the_system_and_on_the_null_subject() {
        let subjects = [Subject { name: "system".into(), library: None, origin: String::new() }];
        let quick: Vec<Workload> =
            WORKLOADS.into_iter().filter(|w| w.name != "burst-idle").collect();
        let request = Request {
            subjects: &subjects,
            baseline: "system",
            workloads: &quick,
            runs: 1,
            scale: 0.0001,
            threads: 2,
            threshold: 0.01,
        };
        let report = run(&request, |_| {}).unwrap().report("system", 0.01);
        assert_eq!(report.failures, []);
        assert_eq!(report.results.iter().filter(|r| r.suite == SUITE).count(), 2 * quick.len());
        assert!(report.results.iter().all(|r| r.summary.median > 0.0));
        assert!(report.results.iter().all(|r| r.suite != SUITE || r.peak_rss_kib > Some(0)));
    }

    #[test]
    fn latency_reports_every_quantile_in_order_and_no_mean_of_them() {
        let subjects = ["system", "again"].map(|name| Subject {
            name: name.into(),
            library: None,
            origin: String::new(),
        });
        let request = Request {
            subjects: &subjects,
            baseline: "system",
            workloads: &workloads(&["latency".into()]).unwrap(),
            runs: 3,
            scale: 0.003,
            threads: 2,
            threshold: 0.01,
        };
        let measured = run(&request, |_| {}).unwrap();
        let report = measured.report("system", 0.01);
        for subject in ["system", "again", NULL] {
            let row = |q| report.result(LATENCY, q, subject).expect(q).summary.median;
            let times = QUANTILES.map(row);
            assert!(times[0] >= 20.0 && times.is_sorted(), "{subject}: {times:?}");
        }
        assert!(report.comparison(LATENCY, "p99.9", "again").is_some());
        assert!(report.comparison(LATENCY, GEOMETRIC_MEAN, "again").is_none());
        assert!(measured.tables(&request, &report).contains("the clock's own cost"));
    }

    #[test]
    fn quantiles_are_read_only_when_all_are_there() {
        let all = "p50=300\np99=400\np99.9=500\np99.99=600\nlongest=70000\n";
        assert_eq!(quantiles(all), Some([300.0, 400.0, 500.0, 600.0, 70000.0]));
        assert_eq!(quantiles("ns=5\np50=300\n"), None);
    }

    /// The null subject under another name is an allocator whose blocks overlap. Not in
    /// `producer-consumer`: whether a block is still in use when it is handed out again is a matter of
    /// timing there.
    #[test]
    fn an_allocator_whose_blocks_overlap_loses_the_row() {
        let library = Some(files::null_subject().unwrap());
        let subjects = [Subject { name: "broken".into(), library, origin: String::new() }];
        let names = ["random-mixed", "lifo", "realloc-grow", "larson"];
        let broken = workloads(&names.map(String::from)).unwrap();
        let request = Request {
            subjects: &subjects,
            baseline: "broken",
            workloads: &broken,
            runs: 1,
            scale: 0.01,
            threads: 2,
            threshold: 0.01,
        };
        let report = run(&request, |_| {}).unwrap().report("broken", 0.01);
        let lost: Vec<&str> = report.failures.iter().map(|f| f.workload.as_str()).collect();
        assert_eq!(lost, names, "{:?}", report.failures);
    }

    #[test]
    fn a_subject_that_does_not_serve_malloc_is_reported_as_failed() {
        let subjects = [Subject {
            name: "impostor".into(),
            library: Some("/nowhere/libother.so".into()),
            origin: String::new(),
        }];
        let request = Request {
            subjects: &subjects,
            baseline: "impostor",
            workloads: &[WORKLOADS[3]],
            runs: 1,
            scale: 0.0001,
            threads: 2,
            threshold: 0.01,
        };
        let report = run(&request, |_| {}).unwrap().report("impostor", 0.01);
        assert!(report.failures[0].reason.contains("served malloc instead"), "{report:?}");
    }
}
