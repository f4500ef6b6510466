//! The result of one run of a workload, and whether the right allocator served it.

use super::{GIVEN_BACK, KEPT, NULL, QUANTILE_UNIT, QUANTILES};
use crate::fields::field;
use crate::model::{Arm, Metric, Outcome, metric};
use crate::process::{End, Used};
use crate::subject::same_file;
use std::path::Path;

/// The outcome of a run of `allod-workload`.
pub fn outcome(arm: &Arm, workload: &str, used: &Used) -> Outcome {
    let mut outcome = used.outcome();
    match answer(arm, workload, used) {
        Ok(values) => outcome.values.extend(values),
        Err(why) => outcome.failure = Some(why),
    }
    outcome
}

fn answer(arm: &Arm, workload: &str, used: &Used) -> Result<Vec<(Metric, f64)>, String> {
    if used.end != End::Exit(0) {
        // The workload reports errors itself; a crash does not.
        let words = used.stderr.lines().find_map(|l| l.strip_prefix("allod-workload: "));
        return Err(words.map_or_else(|| format!("it {}", used.end.words()), str::to_owned));
    }
    let serving = Path::new(field(&used.stdout, "malloc"));
    let own = match &arm.preload {
        Some(library) => same_file(serving, library),
        None => serving.file_name().is_some_and(|f| f.to_string_lossy().starts_with("libc")),
    };
    if !own {
        return Err(format!("{} served malloc instead", serving.display()));
    }
    let number = |name| {
        field(&used.stdout, name).parse::<f64>().map_err(|_| format!("it printed no {name}"))
    };
    let (ns, operations) = (number("ns")?.max(1.0), number("operations")?);
    let mut values = vec![(metric::TIME, ns / operations), (metric::OPERATIONS, operations)];
    if workload == "burst-idle" && arm.name != NULL {
        let (before, peak) = (number("rss_before_kib")?, number("rss_peak_kib")?);
        let kept = (number("rss_after_kib")? - before).max(0.0);
        values.push((KEPT, kept));
        values.push((GIVEN_BACK, 1.0 - kept / (peak - before).max(1.0)));
    }
    if workload == "latency" {
        for name in QUANTILES {
            // The time may be below the clock's resolution; ratios need a number above 0.
            values.push((Metric::new(name, QUANTILE_UNIT), number(name)?.max(1.0)));
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::Launch;

    /// What a program that prints `text` would be taken for on the system's malloc.
    fn said(workload: &str, text: &str) -> Outcome {
        let arguments = ["-c".into(), format!("printf '{text}'").into()];
        let used = Launch::new(Path::new("/bin/sh"), &arguments).run().unwrap();
        outcome(&Arm::new("system"), workload, &used)
    }

    const PLAIN: &str = "operations=10\\nns=50\\nmalloc=/lib/libc.so.6\\n";

    #[test]
    fn time_is_per_operation() {
        let outcome = said("lifo", PLAIN);
        assert_eq!(outcome.failure, None);
        assert!(outcome.values.contains(&(metric::TIME, 5.0)), "{outcome:?}");
    }

    #[test]
    fn all_quantiles_are_wanted() {
        assert_eq!(said("latency", PLAIN).failure.unwrap(), "it printed no p50");
        let all = format!("{PLAIN}p50=300\\np99=400\\np99.9=500\\np99.99=600\\nlongest=70000\\n");
        let outcome = said("latency", &all);
        assert!(outcome.values.contains(&(Metric::new("longest", QUANTILE_UNIT), 70000.0)));
    }

    #[test]
    fn a_program_that_prints_no_result_has_failed() {
        let why = said("lifo", "malloc=/lib/libc.so.6\\n").failure.unwrap();
        assert_eq!(why, "it printed no ns");
        assert!(said("lifo", "").failure.unwrap().contains("served malloc instead"));
    }
}
