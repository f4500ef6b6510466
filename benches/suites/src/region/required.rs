//! The ratios that the suite is to reach, and whether it does.

use super::SUITE;
use allod_lab::model::Report;
use allod_lab::table::{Table, digits, nanoseconds};

/// `subject` is to take at most `1 / at_least` of `against`'s time.
#[derive(Clone, Copy, Debug)]
pub struct Requirement {
    workload: &'static str,
    subject: &'static str,
    /// Workload and subject compared with.
    against: (&'static str, &'static str),
    at_least: f64,
}

const fn within(
    workload: &'static str,
    subject: &'static str,
    against: &'static str,
    at_least: f64,
) -> Requirement {
    Requirement { workload, subject, against: (workload, against), at_least }
}

const REQUIRED: [Requirement; 37] = [
    within("typed-int", "typed", "bump", 1.0 / 1.25),
    within("typed-float", "typed", "bump", 1.0 / 1.25),
    within("small-objects", "typed", "bump", 1.0 / 1.25),
    within("typed-int", "typed", "glibc", 7.0),
    within("typed-float", "typed", "glibc", 7.0),
    within("small-objects", "typed", "glibc", 7.0),
    within("typed-int", "typed", "mimalloc", 3.0),
    within("typed-float", "typed", "mimalloc", 3.0),
    within("small-objects", "typed", "mimalloc", 3.0),
    within("typed-int", "typed", "mk", 1.2),
    within("typed-float", "typed", "mk", 1.2),
    within("typed-mixed", "typed", "mk", 1.2),
    within("typed-pair", "typed", "mk", 1.5),
    within("typed-array", "typed", "mk", 2.0),
    within("typed-symbol", "typed", "mk", 3.0),
    within("typed-symbol-runtime", "typed", "mk", 3.0),
    within("many-small-regions", "typed", "glibc", 21.0),
    within("region-lifecycle", "typed", "calls", 1.0 / 3.0),
    within("list-construct", "batch", "glibc", 6.0),
    within("tree-construct", "batch", "glibc", 6.0),
    within("transmigrate-tree", "move", "memcpy", 0.25),
    within("transmigrate-list", "move", "memcpy", 0.25),
    within("transmigrate-cycles", "move", "memcpy", 0.25),
    within("transmigrate-wide", "move", "memcpy", 0.25),
    within("transmigrate-tree", "copy", "memcpy", 0.25),
    within("transmigrate-list", "copy", "memcpy", 0.25),
    within("transmigrate-cycles", "copy", "memcpy", 0.25),
    within("transmigrate-wide", "copy", "memcpy", 0.25),
    within("transmigrate-tree", "move", "hash-map", 10.0),
    within("transmigrate-list", "move", "hash-map", 10.0),
    within("transmigrate-cycles", "move", "hash-map", 10.0),
    within("transmigrate-tree", "copy", "hash-map", 10.0),
    within("transmigrate-list", "copy", "hash-map", 10.0),
    Requirement {
        workload: "splice-1e7",
        subject: "splice",
        against: ("splice-10", "splice"),
        at_least: 1.0 / 1.5,
    },
    within("tether", "guard", "two-increments", 1.0),
    within("tether-threads", "2-threads", "1-thread", 0.8),
    Requirement {
        workload: "list-1e7",
        subject: "move",
        against: ("list-1e4", "move"),
        at_least: 0.25,
    },
];

/// A line for each requirement whose workload ran: wanted, measured, and `ok`, `level` (short by less
/// than the medians' 95 % intervals) or `missed`.
pub fn requirements(report: &Report) -> Table {
    let mut table = Table::new(["required (times faster)", "wanted", "measured", ""]);
    for r in REQUIRED {
        let summary = |w: &str, s: &str| report.result(SUITE, w, s).map(|r| &r.summary);
        let (Some(own), Some(other)) =
            (summary(r.workload, r.subject), summary(r.against.0, r.against.1))
        else {
            continue;
        };
        let ratio = other.median / own.median;
        let verdict = match r.at_least {
            least if ratio >= least => "ok",
            least if other.ci95[1] / own.ci95[0] >= least => "level",
            _ => "missed",
        };
        let against =
            if r.against.0 == r.workload { String::new() } else { format!("{} ", r.against.0) };
        table.row([
            format!("{}: {} against {against}{}", r.workload, r.subject, r.against.1),
            digits(r.at_least),
            digits(ratio),
            verdict.to_owned(),
        ]);
    }
    table
}

/// A line for each workload and subject: nanoseconds an operation, and times faster than the baseline,
/// with `+` for GO, `-` for NO-GO and `=` for EQUIVALENT.
pub fn times(report: &Report) -> Table {
    let mut table = Table::new(["workload", "subject", "ns", "times faster", "95 % interval"]);
    let mut workload = "";
    for r in report.results.iter().filter(|r| r.suite == SUITE) {
        let begins = r.workload != workload;
        workload = &r.workload;
        let mut line = vec![
            if begins { r.workload.clone() } else { String::new() },
            r.subject.clone(),
            nanoseconds(r.summary.median),
        ];
        match report.comparison(SUITE, &r.workload, &r.subject) {
            Some(c) => line.extend([
                format!("{}{}", digits(c.ratio), c.verdict.mark()),
                format!("{}–{}", digits(c.ci95[0]), digits(c.ci95[1])),
            ]),
            None => line.push("1 ".into()),
        }
        table.row(line);
    }
    table
}
