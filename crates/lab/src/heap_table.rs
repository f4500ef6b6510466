//! The tables that `allod bench heap` prints.

use crate::heap::{Measured, NULL, Request, SUITE};
use crate::model::Report;
use crate::samples::GEOMETRIC_MEAN;
use crate::stats::{Verdict, geometric_mean, median};
use crate::table::{Table, digits, mebibytes, nanoseconds};

/// All tables as one text.
pub fn tables(request: &Request, measured: &Measured, report: &Report) -> String {
    let view = View { request, report };
    let mut text = format!(
        "Time: nanoseconds an operation, medians of {} interleaved rounds; * the best of its row.\n\
         The column \"{NULL}\" is what the workload costs without an allocator.\n\n{}\n",
        request.runs,
        view.time()
    );
    text += &format!(
        "Times faster than {}: above 1 is better; + GO and - NO-GO at ±{} %.\n\n{}\n",
        request.baseline,
        request.threshold * 100.0,
        view.ratios()
    );
    text +=
        &format!("Net time: nanoseconds an operation less the null subject's.\n\n{}\n", view.net());
    text +=
        &format!("Peak memory: MiB, largest resident set of the process.\n\n{}\n", view.memory());
    for (subject, shares) in &measured.given_back {
        text += &format!(
            "{subject} gave {:.0} % of a burst back within a second of idleness.\n",
            100.0 * median(shares)
        );
    }
    for failure in &report.failures {
        text += &format!("{} lost {}: it {}.\n", failure.subject, failure.workload, failure.reason);
    }
    text
}

struct View<'a> {
    request: &'a Request<'a>,
    report: &'a Report,
}

impl View<'_> {
    fn subjects(&self) -> Vec<&str> {
        self.request.subjects.iter().map(|s| s.name.as_str()).collect()
    }

    fn header(&self, extra: &[&str]) -> Table {
        Table::new([""].into_iter().chain(self.subjects()).chain(extra.iter().copied()))
    }

    fn cost(&self, workload: &str, subject: &str) -> Option<f64> {
        Some(self.report.result(SUITE, workload, subject)?.summary.median)
    }

    fn peak(&self, workload: &str, subject: &str) -> Option<f64> {
        Some(self.report.result(SUITE, workload, subject)?.peak_rss_kib? as f64)
    }

    /// A line of numbers of which less is better, the least of them marked.
    fn line(
        &self,
        name: &str,
        value: impl Fn(&str) -> Option<f64>,
        show: impl Fn(f64) -> String,
    ) -> Vec<String> {
        let values: Vec<Option<f64>> = self.subjects().into_iter().map(value).collect();
        let best = values.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        let cell = |v: &Option<f64>| match *v {
            Some(v) if v == best => format!("{}*", show(v)),
            Some(v) => format!("{} ", show(v)),
            None => "lost ".into(),
        };
        std::iter::once(name.to_owned()).chain(values.iter().map(cell)).collect()
    }

    fn time(&self) -> Table {
        let mut table = self.header(&[NULL]);
        for w in self.request.workloads {
            let mut line = self.line(w.name, |s| self.cost(w.name, s), nanoseconds);
            line.push(self.cost(w.name, NULL).map_or("lost".into(), nanoseconds));
            table.row(line);
        }
        table
    }

    fn net(&self) -> Table {
        let mut table = self.header(&[]);
        for w in self.request.workloads {
            let own = self.cost(w.name, NULL).unwrap_or(0.0);
            table.row(self.line(w.name, |s| Some(self.cost(w.name, s)? - own), nanoseconds));
        }
        table
    }

    fn memory(&self) -> Table {
        let mut table = self.header(&[]);
        for w in self.request.workloads {
            table.row(self.line(w.name, |s| self.peak(w.name, s), mebibytes));
        }
        table.row(self.line("geometric mean", |s| self.mean_peak(s), mebibytes));
        table
    }

    fn mean_peak(&self, subject: &str) -> Option<f64> {
        let peaks: Option<Vec<f64>> =
            self.request.workloads.iter().map(|w| self.peak(w.name, subject)).collect();
        Some(geometric_mean(&peaks?))
    }

    fn ratios(&self) -> Table {
        let mut table = self.header(&[]);
        for w in self.request.workloads {
            table.row(self.ratio_line(w.name, w.name));
        }
        table.row(self.ratio_line("geometric mean", GEOMETRIC_MEAN));
        let interval = |subject: &str| {
            let c = self.report.comparison(SUITE, GEOMETRIC_MEAN, subject);
            c.map_or(String::new(), |c| format!("{}–{} ", digits(c.ci95[0]), digits(c.ci95[1])))
        };
        let cells = self.subjects().into_iter().map(interval);
        table.row(std::iter::once("  95 % interval".to_owned()).chain(cells));
        table
    }

    fn ratio_line(&self, name: &str, workload: &str) -> Vec<String> {
        let cell = |subject: &str| {
            if subject == self.request.baseline {
                return "1 ".into();
            }
            let Some(c) = self.report.comparison(SUITE, workload, subject) else {
                return "lost ".into();
            };
            let mark = match c.verdict {
                Verdict::Go => '+',
                Verdict::Neutral => ' ',
                Verdict::NoGo => '-',
            };
            format!("{}{mark}", digits(c.ratio))
        };
        std::iter::once(name.to_owned()).chain(self.subjects().into_iter().map(cell)).collect()
    }
}
