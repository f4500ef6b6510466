//! Counting instructions with callgrind: on any machine, however busy, and the same in every run.

use crate::model::{Outcome, metric};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The command that is put before a program to count its instructions.
///
/// # Errors
/// Says what to install when there is no valgrind.
pub(super) fn wrapper(program: &Path) -> Result<(PathBuf, Vec<OsString>), String> {
    let valgrind = crate::program::find("valgrind".as_ref())
        .map_err(|why| format!("{}; counting instructions needs valgrind", why.message))?;
    let options = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let mut arguments: Vec<OsString> = options.map(OsString::from).into();
    arguments.push(program.into());
    Ok((valgrind, arguments))
}

/// The count in callgrind's output on standard error.
pub(super) fn count(stderr: &str) -> Option<u64> {
    let line = stderr.lines().find_map(|line| line.split_once(" Collected : "))?;
    line.1.trim().parse().ok()
}

/// Instructions per operation: the difference of two runs of which one does more. What both have in
/// common, such as startup, cancels out.
pub fn per_operation(less: Outcome, more: Outcome) -> Outcome {
    for outcome in [&less, &more] {
        if outcome.failure.is_some() || outcome.stopped {
            return outcome.clone();
        }
    }
    let grown = |wanted| {
        let of = |o: &Outcome| Some(o.values.iter().find(|(metric, _)| *metric == wanted)?.1);
        Some(of(&more)? - of(&less)?)
    };
    match (grown(metric::EXECUTED), grown(metric::OPERATIONS)) {
        (Some(instructions), Some(operations)) if instructions > 0.0 && operations > 0.0 => {
            let value = (metric::EXECUTED_PER_OPERATION, instructions / operations);
            Outcome { values: vec![value], ..Outcome::default() }
        }
        _ => Outcome::failed("the amount of its work depends on timing, so counts mean nothing"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(instructions: f64, operations: f64) -> Outcome {
        let values = vec![(metric::EXECUTED, instructions), (metric::OPERATIONS, operations)];
        Outcome { values, ..Outcome::default() }
    }

    #[test]
    fn the_count_is_found_among_other_words() {
        let said = "hello\n==12== Events    : Ir\n==12== Collected : 123456\n==12== \n";
        assert_eq!(count(said), Some(123_456));
        assert_eq!(count("hello\n"), None);
    }

    #[test]
    fn what_two_runs_have_in_common_does_not_count() {
        let both = per_operation(outcome(1500.0, 10.0), outcome(2000.0, 20.0));
        assert_eq!(both.values, [(metric::EXECUTED_PER_OPERATION, 50.0)]);
        let why = per_operation(outcome(1500.0, 10.0), outcome(2000.0, 10.0)).failure;
        assert!(why.unwrap().contains("depends on timing"));
        let failed = per_operation(Outcome::failed("it crashed"), outcome(1.0, 1.0));
        assert_eq!(failed.failure.unwrap(), "it crashed");
    }
}
