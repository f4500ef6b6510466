//! The notes under the tables: how the numbers were measured.

use crate::model::{Report, metric};
use crate::process::COUNTERS;
use crate::stats::FEWEST;
use crate::suite_table::{CROWDED, crowded};
use crate::table::counted;
use std::fmt::Write;

/// The notes under the tables: too few rounds, a stop, disturbances, what could not be measured
/// here, and the seed.
pub fn notes(report: &Report) -> String {
    let mut text = String::new();
    let p = &report.provenance;
    let rounds = report.rounds();
    if p.stopped {
        text += "Stopped: these are the results so far.\n";
    }
    if report.observations.iter().any(|o| o.metric.name == metric::EXECUTED.name) {
        return text;
    }
    if crowded(report).next().is_some() {
        let _ = writeln!(
            text,
            "{} more threads than this machine's {}: they wait for each other.",
            CROWDED.trim(),
            counted(report.machine.cores, "processor")
        );
    }
    if (1..FEWEST).contains(&rounds) {
        let _ = writeln!(
            text,
            "{} too few for a verdict: no interval holds with 95 % certainty below {FEWEST} \
             (--runs {FEWEST}).",
            are(rounds, "round")
        );
    }
    if p.disturbed_rounds > 0 {
        let kept = p.disturbed_rounds - p.repeated_rounds;
        let _ = writeln!(
            text,
            "In {} the machine did not run equally fast for all; {} repeated, {kept} kept.",
            counted(p.disturbed_rounds, "round"),
            p.repeated_rounds
        );
    }
    let has = |name: &str| report.observations.iter().any(|o| o.metric.name == name);
    if !report.observations.is_empty() {
        if !COUNTERS.iter().any(|name| has(name)) {
            let _ = writeln!(text, "No hardware counters: {}.", no_counters(p.counters_errno));
        }
        if !has("final") {
            text += "Memory at the end is unknown: processes may not be watched here.\n";
        }
        let _ = writeln!(text, "Order drawn from --seed {}.", p.seed);
    }
    text
}

/// The number of something, as the beginning of a sentence.
fn are(n: usize, what: &str) -> String {
    format!("{} {}", counted(n, what), if n == 1 { "is" } else { "are" })
}

/// Why there are no hardware counters, and how to get them.
fn no_counters(errno: Option<i32>) -> String {
    match errno {
        Some(libc::EACCES | libc::EPERM) => {
            "not permitted (sysctl kernel.perf_event_paranoid=2 permits them; a container needs to be allowed \
             perf_event_open, too)"
                .into()
        }
        Some(libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV) => {
            "this machine has none, which is common in virtual machines".into()
        }
        Some(libc::ENOSYS) => "the kernel does not have perf_event_open, or blocks it".into(),
        Some(errno) => std::io::Error::from_raw_os_error(errno).to_string(),
        None => "not known here".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metric::TIME;
    use crate::views::{Against, View, tests};

    #[test]
    fn a_reader_is_told_what_limits_the_result() {
        let mut report = tests::report(&[("a", "base", &TIME, 4.0)]);
        report.observations.truncate(5);
        let threads = [("a", "base", &metric::THREADS, 3.0)];
        report.observations.extend(tests::report(&threads).observations);
        report.machine.cores = 2;
        let against = Against { arms: &["base"], baseline: "base", apart: None, threshold: 0.01 };
        View::new("heap", ["a"], &TIME).add_to(&mut report, against);
        report.provenance.stopped = true;
        report.provenance.counters_errno = Some(libc::EACCES);
        report.provenance.disturbed_rounds = 3;
        report.provenance.repeated_rounds = 2;
        let text = notes(&report);
        for words in [
            "Stopped:",
            "5 rounds are too few for a verdict",
            "In 3 rounds",
            "2 repeated, 1 kept",
            "No hardware counters: not permitted (sysctl kernel.perf_event_paranoid=2",
            "† more threads than this machine's 2 processors",
            "--seed 1",
        ] {
            assert!(text.contains(words), "{words} in {text}");
        }
    }

    #[test]
    fn one_is_told_from_several() {
        let mut report = tests::report(&[("a", "base", &TIME, 4.0)]);
        report.observations.truncate(1);
        let against = Against { arms: &["base"], baseline: "base", apart: None, threshold: 0.01 };
        View::new("heap", ["a"], &TIME).add_to(&mut report, against);
        report.provenance.disturbed_rounds = 1;
        let text = notes(&report);
        assert!(text.contains("1 round is too few for a verdict"), "{text}");
        assert!(text.contains("In 1 round the machine"), "{text}");
    }

    #[test]
    fn missing_counters_are_told_apart_from_forbidden_ones() {
        assert!(no_counters(Some(libc::EPERM)).contains("not permitted"));
        assert!(no_counters(Some(libc::ENOENT)).contains("this machine has none"));
        assert!(no_counters(Some(libc::ENOSYS)).contains("the kernel"));
    }

    #[test]
    fn six_rounds_on_a_quiet_machine_need_no_excuse() {
        let mut report = tests::report(&[("a", "base", &TIME, 4.0)]);
        let against = Against { arms: &["base"], baseline: "base", apart: None, threshold: 0.01 };
        View::new("heap", ["a"], &TIME).add_to(&mut report, against);
        assert!(!notes(&report).contains("too few"));
        assert!(!notes(&report).contains("disturbed"));
    }
}
