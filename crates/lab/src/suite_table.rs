//! The tables that a suite prints: workloads down, subjects across.

use crate::model::{Failure, Report, metric};
use crate::stats::geometric_mean;
use crate::table::{Table, digits, mebibytes, nanoseconds};
use crate::views::{GEOMETRIC_MEAN, View, mean_without};

/// The mark of a workload with more threads than the machine has processors: its threads wait for
/// each other with any allocator.
pub const CROWDED: &str = " †";

/// The workloads with more threads than the machine has processors.
pub fn crowded(report: &Report) -> impl Iterator<Item = &str> {
    let of_threads = report.observations.iter().filter(|o| o.metric == metric::THREADS);
    of_threads.filter(|o| o.value > report.machine.cores as f64).map(|o| o.workload.as_str())
}

/// One suite of a report, for tables.
#[derive(Clone, Debug)]
pub struct SuiteTable<'a> {
    /// The report.
    pub report: &'a Report,
    /// The suite.
    pub suite: &'a str,
    /// The workloads, in order.
    pub workloads: Vec<&'a str>,
    /// The subjects, in order.
    pub subjects: Vec<&'a str>,
    /// The subject that others are compared with.
    pub baseline: &'a str,
    /// A subject that only shows the cost of the workload itself; its column comes last and never wins.
    pub floor: Option<&'a str>,
}

impl<'a> SuiteTable<'a> {
    /// The suite with all workloads and subjects in the order of the report.
    ///
    /// ```standalone_crate
    /// # let mut bench = allod_lab::inprocess::Bench::new("frame");
    /// # bench.add("sum", "loop", 1000, || 1);
    /// # bench.add("sum", "formula", 1000, || 1);
    /// # let report = bench.sample_ms(0.01).run(|_| {})?;
    /// let tables = allod_lab::suite_table::SuiteTable::of(&report, "frame", "loop");
    /// println!("{}\n{}", tables.time(), tables.ratios());
    /// # Ok::<(), String>(())
    /// ```
    pub fn of(report: &'a Report, suite: &'a str, baseline: &'a str) -> Self {
        let results = report.results.iter().filter(|r| r.suite == suite);
        let failures = report.failures.iter().filter(|f| f.suite == suite);
        let mut workloads = Vec::new();
        let mut subjects = Vec::new();
        let names = results
            .map(|r| (r.workload.as_str(), r.subject.as_str()))
            .chain(failures.map(|f| (f.workload.as_str(), f.subject.as_str())));
        for (workload, subject) in names {
            if !workloads.contains(&workload) {
                workloads.push(workload);
            }
            if !subjects.contains(&subject) {
                subjects.push(subject);
            }
        }
        Self { report, suite, workloads, subjects, baseline, floor: None }
    }

    /// Nanoseconds per operation, medians; `*` marks the best of each row.
    pub fn time(&self) -> Table {
        self.least(|w, s| self.cost(w, s), nanoseconds, true)
    }

    /// Plain numbers per operation, medians; `*` marks the best of each row.
    pub fn counts(&self) -> Table {
        self.least(|w, s| self.cost(w, s), digits, true)
    }

    /// Nanoseconds per operation minus the floor's.
    pub fn net_time(&self) -> Table {
        let own = |w: &str| self.floor.and_then(|floor| self.cost(w, floor)).unwrap_or(0.0);
        self.least(|w, s| Some(self.cost(w, s)? - own(w)), nanoseconds, false)
    }

    /// MiB at the peak, with the geometric mean relative to the baseline; `*` marks the best of
    /// each row.
    pub fn memory(&self) -> Table {
        let mut table = self.least(|w, s| self.peak(w, s), mebibytes, true);
        let mean = |s: &str| {
            let peaks: Option<Vec<f64>> = self.workloads.iter().map(|w| self.peak(w, s)).collect();
            Some(geometric_mean(&peaks?))
        };
        if self.workloads.len() > 1 {
            let name = format!("geometric mean of {} rows", self.rows_of_mean());
            table.row(self.line(&name, mean, mebibytes, true));
            let name = format!("times leaner than {}", self.baseline);
            self.mean_lines(&mut table, &View::peak_suite(self.suite), &name, GEOMETRIC_MEAN);
        }
        table
    }

    /// Times faster than the baseline, with the geometric means, the number of their rows, and
    /// their intervals; `+` marks GO, `-` NO-GO and `=` EQUIVALENT.
    pub fn ratios(&self) -> Table {
        let mut table = self.ratio_rows();
        if self.workloads.len() > 1 {
            let name = format!("geometric mean of {} rows", self.rows_of_mean());
            self.mean_lines(&mut table, self.suite, &name, GEOMETRIC_MEAN);
            for (mean, without) in self.means_without() {
                self.mean_lines(&mut table, self.suite, &format!("  without {without}"), mean);
            }
        }
        table
    }

    /// The number of rows in a mean: those in which the baseline took part.
    fn rows_of_mean(&self) -> usize {
        let of_suite = self.report.results.iter().filter(|r| r.suite == self.suite);
        of_suite.filter(|r| r.subject == self.baseline).count()
    }

    /// The means that leave rows out, and which rows these are.
    fn means_without(&self) -> Vec<(&str, String)> {
        let without = mean_without(&[]);
        let mut found: Vec<(&str, String)> = Vec::new();
        for c in self.report.comparisons.iter().filter(|c| c.suite == self.suite) {
            if let Some(rows) = c.workload.strip_prefix(&without)
                && found.iter().all(|(mean, _)| *mean != c.workload)
            {
                found.push((&c.workload, rows.replace(',', ", ")));
            }
        }
        found
    }

    /// A mean of a suite and its interval.
    fn mean_lines(&self, table: &mut Table, suite: &str, name: &str, mean: &str) {
        table.row(self.ratio_line(suite, name, mean));
        let interval = |subject: &&str| {
            let c = self.report.comparison(suite, mean, subject);
            c.map_or(String::new(), |c| format!("{:.2}–{:.2} ", c.ci95[0], c.ci95[1]))
        };
        let cells = self.subjects.iter().map(interval);
        table.row(std::iter::once("    95 % interval".to_owned()).chain(cells));
    }

    /// Times faster than the baseline, row by row: for rows without a meaningful mean.
    pub fn ratio_rows(&self) -> Table {
        let mut table = Table::new([""].iter().chain(&self.subjects).copied());
        for w in &self.workloads {
            table.row(self.named(w, self.ratio_line(self.suite, w, w)));
        }
        table
    }

    /// One sentence for each row that a subject lost.
    pub fn losses(&self) -> String {
        let lost = self.report.failures.iter().filter(|f| self.is_of(f));
        lost.map(|f| format!("{} lost {}: {}.\n", f.subject, f.workload, f.reason)).collect()
    }

    fn cost(&self, workload: &str, subject: &str) -> Option<f64> {
        Some(self.report.result(self.suite, workload, subject)?.summary.median)
    }

    fn peak(&self, workload: &str, subject: &str) -> Option<f64> {
        Some(self.report.result(self.suite, workload, subject)?.peak_rss_kib? as f64)
    }

    fn least(
        &self,
        value: impl Fn(&str, &str) -> Option<f64>,
        show: impl Fn(f64) -> String,
        with_floor: bool,
    ) -> Table {
        let floor = self.floor.iter().filter(|_| with_floor);
        let mut table = Table::new([""].iter().chain(&self.subjects).chain(floor).copied());
        for w in &self.workloads {
            table.row(self.named(w, self.line(w, |s| value(w, s), &show, with_floor)));
        }
        table
    }

    /// A workload's line, marked where it has more threads than the machine has processors.
    fn named(&self, workload: &str, mut line: Vec<String>) -> Vec<String> {
        if crowded(self.report).any(|w| w == workload) {
            line[0] += CROWDED;
        }
        line
    }

    /// Whether a failure belongs to this suite, or to the one that it is a view of.
    fn is_of(&self, failure: &Failure) -> bool {
        let rest = self.suite.strip_prefix(&failure.suite);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    }

    /// Why there is no number: the subject failed, or it did not take part. A mean is lost with any row.
    fn absent(&self, row: &str, subject: &str) -> &'static str {
        let is_workload = self.workloads.contains(&row);
        let lost =
            self.report.failures.iter().any(|f| {
                self.is_of(f) && f.subject == subject && (!is_workload || f.workload == row)
            });
        if lost { "lost" } else { "–" }
    }

    /// A line of numbers where less is better, with the least marked.
    fn line(
        &self,
        name: &str,
        value: impl Fn(&str) -> Option<f64>,
        show: impl Fn(f64) -> String,
        with_floor: bool,
    ) -> Vec<String> {
        let values: Vec<Option<f64>> = self.subjects.iter().map(|s| value(s)).collect();
        let best = values.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let cell = |(v, subject): (&Option<f64>, &&str)| match *v {
            Some(v) if v == best => format!("{}*", show(v)),
            Some(v) => format!("{} ", show(v)),
            None => format!("{} ", self.absent(name, subject)),
        };
        let mut line = vec![name.to_owned()];
        line.extend(values.iter().zip(&self.subjects).map(cell));
        if let Some(floor) = self.floor.filter(|_| with_floor) {
            line.push(value(floor).map_or_else(|| self.absent(name, floor).into(), &show));
        }
        line
    }

    fn ratio_line(&self, suite: &str, name: &str, workload: &str) -> Vec<String> {
        let cell = |subject: &&str| {
            if *subject == self.baseline {
                return "1 ".into();
            }
            let Some(c) = self.report.comparison(suite, workload, subject) else {
                return format!("{} ", self.absent(workload, subject));
            };
            format!("{}{}", digits(c.ratio), c.verdict.mark())
        };
        std::iter::once(name.to_owned()).chain(self.subjects.iter().map(cell)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::metric::TIME;
    use crate::views::{Against, tests};

    fn report() -> Report {
        let times =
            [("a", "base", &TIME, 4.0), ("a", "fast", &TIME, 2.0), ("b", "base", &TIME, 1.0)];
        let mut report = tests::report(&times);
        tests::fail(&mut report, "b", "fast", "crashed");
        let against =
            Against { arms: &["base", "fast"], baseline: "base", apart: None, threshold: 0.01 };
        View::new("heap", ["a", "b"], &TIME).add_to(&mut report, against);
        report
    }

    #[test]
    fn the_best_of_a_row_is_marked_and_a_lost_row_is_shown() {
        let report = report();
        let table = SuiteTable::of(&report, "heap", "base");
        let lines: Vec<String> = table.time().to_string().lines().skip(2).map(squeeze).collect();
        assert_eq!(lines, ["a 4.00 2.00*", "b 1.00* lost"]);
        assert_eq!(table.losses(), "fast lost b: crashed.\n");
    }

    #[test]
    fn ratios_stand_against_the_baseline() {
        let report = report();
        let table = SuiteTable::of(&report, "heap", "base").ratios().to_string();
        let lines: Vec<String> = table.lines().skip(2).map(squeeze).collect();
        let mean = "geometric mean of 2 rows 1 lost";
        assert_eq!(lines, ["a 1 2.00+", "b 1 lost", mean, "95 % interval"]);
    }

    #[test]
    fn threads_beyond_the_processors_are_marked() {
        let mut report = report();
        let threads = [("a", "base", &metric::THREADS, 4.0), ("b", "base", &metric::THREADS, 2.0)];
        report.observations.extend(tests::report(&threads).observations);
        report.machine.cores = 2;
        let table = SuiteTable::of(&report, "heap", "base");
        for lines in [table.time(), table.ratio_rows(), table.memory()].map(|t| t.to_string()) {
            let marked: Vec<&str> = lines.lines().filter(|l| l.contains('†')).collect();
            assert!(marked.len() == 1 && marked[0].starts_with("a †"), "{lines}");
        }
        report.machine.cores = 4;
        assert!(!SuiteTable::of(&report, "heap", "base").time().to_string().contains('†'));
    }

    #[test]
    fn a_mean_says_over_which_rows_it_is() {
        let time = TIME;
        let both = ["a", "b", "far"]
            .map(|row| [(row, "base", &time, 4.0), (row, "fast", &time, 2.0)])
            .concat();
        let mut report = tests::report(&both);
        let against =
            Against { arms: &["base", "fast"], baseline: "base", apart: None, threshold: 0.01 };
        let view = View::new("heap", ["a", "b", "far"], &TIME).with_extremes(&["far"]);
        view.add_to(&mut report, against);
        let table = SuiteTable::of(&report, "heap", "base").ratios().to_string();
        let lines: Vec<String> = table.lines().skip(5).map(squeeze).collect();
        let interval = "95 % interval 2.00–2.00";
        let means = ["geometric mean of 3 rows 1 2.00+", "without far 1 2.00+"];
        assert_eq!(lines, [means[0], interval, means[1], interval]);
    }

    #[test]
    fn the_mean_of_peak_memory_has_an_interval() {
        let (time, peak) = (TIME, metric::PEAK);
        let rows = ["a", "b"].map(|row| {
            let of = |arm, ns, kib| [(row, arm, &time, ns), (row, arm, &peak, kib)];
            [of("base", 1.0, 3000.0), of("fast", 1.0, 2000.0)].concat()
        });
        let mut report = tests::report(&rows.concat());
        let against =
            Against { arms: &["base", "fast"], baseline: "base", apart: None, threshold: 0.01 };
        View::new("heap", ["a", "b"], &TIME).add_to(&mut report, against);
        View::peaks("heap", ["a", "b"]).add_to(&mut report, against);
        let table = SuiteTable::of(&report, "heap", "base").memory().to_string();
        let lines: Vec<String> = table.lines().rev().take(2).map(squeeze).collect();
        assert_eq!(lines, ["95 % interval 1.50–1.50", "times leaner than base 1 1.50+"]);
    }

    #[test]
    fn a_view_of_a_suite_shows_what_the_suite_lost() {
        let report = report();
        let mut table = SuiteTable::of(&report, "heap", "base");
        table.suite = "heap-instructions";
        assert_eq!(table.losses(), "fast lost b: crashed.\n");
        table.suite = "heaps";
        assert_eq!(table.losses(), "");
    }

    #[test]
    fn a_subject_that_took_no_part_has_lost_nothing() {
        let mut report = report();
        report.failures.clear();
        let table = SuiteTable::of(&report, "heap", "base");
        assert_eq!(table.time().to_string().lines().last().map(squeeze).unwrap(), "b 1.00* –");
        assert_eq!(table.losses(), "");
    }

    fn squeeze(line: &str) -> String {
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}
