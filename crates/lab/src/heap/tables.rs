//! The tables that `allod bench heap` prints.

use super::{GIVEN_BACK, INSTRUCTIONS, LATENCY, NULL, QUANTILES, Request, SUITE};
use crate::model::{Report, values};
use crate::stats::{FEWEST, median};
use crate::suite_table::SuiteTable;
use crate::table::counted;

/// Time, ratios, net time, peak memory, memory given back, latency, and lost rows.
pub fn tables(request: &Request, report: &Report) -> String {
    let Request { contest, workloads, .. } = request;
    let table = contest.table(report, SUITE, workloads.iter().map(|w| w.name).collect());
    if contest.terms.counting {
        let table = SuiteTable { suite: INSTRUCTIONS, ..table };
        return format!(
            "Instructions per operation, the workload's own included, counted by callgrind in one run; *\n\
             the best of its row. The column \"{NULL}\" is what the workload takes without an allocator.\n\n\
             {}\nTimes fewer than {}.\n\n{}\n{}",
            table.counts(),
            contest.baseline,
            table.ratio_rows(),
            table.losses()
        );
    }
    let mut text = time_and_ratios(&table, "per operation", contest.terms.threshold);
    text += &format!("Net time: nanoseconds minus the null subject's.\n\n{}\n", table.net_time());
    text += &format!("Peak memory: MiB, largest resident set.\n\n{}\n", table.memory());
    for subject in contest.subjects {
        let shares = values(&report.observations, "burst-idle", &subject.name, &GIVEN_BACK);
        if !shares.is_empty() {
            let share = (100.0 * median(&shares)).round().max(0.0);
            let name = &subject.name;
            text += &format!("{name} gave back {share} % of a burst within a second of idling.\n");
        }
    }
    if report.results.iter().any(|r| r.suite == LATENCY) {
        text += &latency(&table);
    }
    text + &table.losses()
}

/// The tables of time per operation and of ratios.
pub(crate) fn time_and_ratios(table: &SuiteTable, operation: &str, threshold: f64) -> String {
    format!(
        "Time: nanoseconds {operation}, medians of {}; * the best of its row.\n\
         The column \"{NULL}\" is what the workload costs without an allocator.\n\n{}\n\
         Times faster than {}: above 1 is better; + GO, - NO-GO and = EQUIVALENT at ±{} %,\n\
         nothing where it is undecided, as with fewer than {FEWEST} rounds.\n\n{}\n",
        counted(table.report.rounds(), "interleaved round"),
        table.time(),
        table.baseline,
        threshold * 100.0,
        table.ratios()
    )
}

fn latency(heap: &SuiteTable) -> String {
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
