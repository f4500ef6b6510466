//! The tables that `allod bench scheme` prints.

use super::{INSTRUCTIONS, PAUSES, Request, SUITE, codegen, compared, group_suite, names_of};
use crate::required;
use allod_lab::model::Report;
use allod_lab::stats::FEWEST;
use allod_lab::suite_table::SuiteTable;
use allod_lab::table::Table;
use allod_lab::views::GEOMETRIC_MEAN;
use allod_scheme::classics::Group;

/// Time, ratios, the means of groups, peak memory, what enters continuations again, and what was lost.
#[must_use]
pub fn tables(request: &Request, report: &Report) -> String {
    let all = SuiteTable {
        report,
        suite: SUITE,
        workloads: names_of(request, None),
        subjects: compared(request).collect(),
        baseline: request.baseline,
        floor: None,
    };
    let apart = names_of(request, Some(Group::Continuations));
    if request.terms.counting {
        let workloads = all.workloads.iter().chain(&apart).copied().collect();
        let counted = SuiteTable { suite: INSTRUCTIONS, workloads, ..all };
        return format!(
            "Instructions of the whole process, its start included, counted by callgrind in one run; * the\n\
             best of its row.\n\n{}\nTimes fewer than {}.\n\n{}\n{}",
            counted.counts(),
            request.baseline,
            counted.ratio_rows(),
            counted.losses()
        );
    }
    let mut text = String::new();
    if !all.workloads.is_empty() {
        text += &format!(
            "Time: milliseconds by the program's own clock, without compilation and start, medians of {}\n\
             interleaved rounds; * the best of its row.\n\n{}\n\
             Times faster than {}: above 1 is better; + GO, - NO-GO and = EQUIVALENT at ±{} %,\n\
             nothing where it is undecided, as with fewer than {FEWEST} rounds.\n\n{}\n{}\
             Peak memory: MiB, largest resident set of the whole process.\n\n{}\n",
            report.rounds(),
            all.counts(),
            request.baseline,
            request.terms.threshold * 100.0,
            all.ratios(),
            groups(request, report),
            all.memory()
        );
    }
    if !apart.is_empty() {
        let suite = group_suite(Group::Continuations);
        let apart = SuiteTable { suite: &suite, workloads: apart, ..all.clone() };
        text += &format!(
            "Programs that re-enter continuations, which are in no mean above: milliseconds, and times faster\n\
             than {}.\n\n{}\n{}\n",
            request.baseline,
            apart.counts(),
            apart.ratio_rows()
        );
    }
    if request.pauses {
        let names = names_of(request, None).into_iter();
        let workloads = names.chain(names_of(request, Some(Group::Continuations))).collect();
        let pauses = SuiteTable { suite: PAUSES, workloads, ..all.clone() };
        text += &format!(
            "Longest pause: milliseconds that the program was stopped for its memory, in runs of their own, as\n\
             the systems tell that do; medians; * the best of its row.\n\n{}\n",
            pauses.counts()
        );
    }
    text += &codegen::table(request, report);
    text += &required::table(&report.required, request.terms.threshold);
    text + &all.losses()
}

/// The geometric mean of each group that has several programs.
fn groups(request: &Request, report: &Report) -> String {
    let mut table = Table::new(std::iter::once("geometric mean of").chain(compared(request)));
    let mut any = false;
    for group in Group::ALL {
        let (rows, suite) = (names_of(request, Some(group)).len(), group_suite(group));
        if rows < 2 || matches!(group, Group::Continuations | Group::Objects) {
            continue;
        }
        any = true;
        let cell = |arm: &str| match report.comparison(&suite, GEOMETRIC_MEAN, arm) {
            Some(c) => format!("{:.2} ({:.2}–{:.2})", c.ratio, c.ci95[0], c.ci95[1]),
            None if arm == request.baseline => "1".into(),
            None => "lost".into(),
        };
        let cells = compared(request).map(cell);
        table.row(std::iter::once(format!("{} ({rows} rows)", group.name())).chain(cells));
    }
    if any { format!("{table}\n") } else { String::new() }
}
