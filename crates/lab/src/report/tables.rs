//! Reports as tables: for the terminal and in Markdown.

use super::Given;
use super::scorecard::{Line, Mean, Scorecard};
use super::suite::{Share, Suite};
use crate::experiment::{Experiment, Matrix, effect_table, point_table, sum_table};
use crate::notes::notes;
use crate::suite_table::SuiteTable;
use crate::table::{Table, counted, digits};

/// Rows of the list of losses.
const MOST_LOST: usize = 10;
/// Columns of text on a terminal.
const WIDTH: usize = 100;

/// A table with its heading and notes.
#[derive(Clone, Debug)]
pub struct Part {
    /// The heading.
    pub title: String,
    /// Sentences before the table; may be empty.
    pub text: String,
    /// The table, if there is one.
    pub table: Option<Table>,
}

impl Part {
    fn new(title: impl Into<String>, text: impl Into<String>, table: Option<Table>) -> Self {
        Self { title: title.into(), text: text.into(), table }
    }

    /// As the terminal shows it.
    pub fn plain(&self) -> String {
        let mut text = format!("{}\n", self.title);
        if !self.text.is_empty() {
            text += &wrapped(&self.text);
        }
        match &self.table {
            Some(table) => format!("{text}\n{table}"),
            None => text,
        }
    }

    /// As a section of a Markdown page.
    pub fn markdown(&self) -> String {
        let mut text = format!("## {}\n", self.title);
        if !self.text.is_empty() {
            text += &format!("\n{}\n", self.text.trim_end());
        }
        match &self.table {
            Some(table) => format!("{text}\n{}", table.markdown()),
            None => text,
        }
    }
}

/// Text in lines of at most [`WIDTH`] characters, except for longer words.
fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    for paragraph in text.lines() {
        let mut column = 0;
        for word in paragraph.split_whitespace() {
            let width = word.chars().count();
            if column > 0 {
                let fits = column + 1 + width <= WIDTH;
                lines.push(if fits { ' ' } else { '\n' });
                column = if fits { column + 1 } else { 0 };
            }
            lines += word;
            column += width;
        }
        lines.push('\n');
    }
    lines
}

/// All tables of some runs: for every suite, the cost of each row, ratios, and peak memory.
pub fn tables(all: &[Given]) -> Vec<Part> {
    let mut parts = Vec::new();
    for given in all {
        if let Some(experiment) = &given.report.experiment {
            parts.extend(experiment.matrices.iter().flat_map(|m| of_matrix(experiment, m)));
        }
        let of_run = if all.len() > 1 { format!(", {}", given.label) } else { String::new() };
        for suite in Suite::all(&given.report) {
            let table = SuiteTable::of(&given.report, suite.name, suite.reference);
            let table = SuiteTable { subjects: suite.subjects.clone(), ..table };
            let title = |what: &str| format!("{}: {what}{of_run}", suite.name);
            let unit = suite.rows.first().map_or("", |row| suite.unit(row));
            let cost = if unit.starts_with("ns") { table.time() } else { table.counts() };
            let text = format!("Medians, {unit}; `*` is the best of its row.");
            parts.push(Part::new(title("cost"), text, Some(cost)));
            let text = format!(
                "Times better than {}; above 1 is better. `+` GO, `-` NO-GO, `=` EQUIVALENT, nothing: undecided.",
                suite.reference
            );
            parts.push(Part::new(title("ratios"), text, Some(table.ratios())));
            if given
                .report
                .results
                .iter()
                .any(|r| r.suite == suite.name && r.peak_rss_kib.is_some())
            {
                let text = "MiB, medians of the largest resident set; `*` is the least of its row.";
                parts.push(Part::new(title("peak memory"), text, Some(table.memory())));
            }
        }
        parts.push(origin(given));
    }
    parts
}

/// The results of an experiment on one workload.
fn of_matrix(experiment: &Experiment, matrix: &Matrix) -> Vec<Part> {
    let name = &matrix.workload;
    let advice = &matrix.advice;
    let mut text = advice.choose.as_ref().map_or(String::new(), |p| format!("Recommended: {p}.\n"));
    text.extend(advice.reasons.iter().chain(&advice.warnings).map(|line| format!("{line}\n")));
    let table = point_table(experiment, matrix);
    let mut parts = vec![Part::new(format!("Points: {name}"), text, Some(table))];
    if experiment.factors.len() > 1 {
        let effects =
            Part::new(format!("Effects: {name}"), "", Some(effect_table(experiment, matrix)));
        let sums =
            Part::new(format!("Sums of gains: {name}"), "", Some(sum_table(experiment, matrix)));
        parts.extend([effects, sums]);
    }
    parts
}

/// A run's provenance and notes.
fn origin(given: &Given) -> Part {
    let report = &given.report;
    let mut text = notes(report);
    for f in &report.failures {
        text += &format!("{} lost {}: {}.\n", f.subject, f.workload, f.reason);
    }
    let mut table = Table::new(["", ""]);
    for (name, value) in facts(given) {
        table.row([name.to_owned(), value]);
    }
    Part::new(format!("Provenance of {}", given.label), text, Some(table))
}

/// The known facts about how a run was made.
pub(super) fn facts(given: &Given) -> Vec<(&'static str, String)> {
    let (m, p) = (&given.report.machine, &given.report.provenance);
    let settings = p.settings.iter().map(|(name, value)| format!("{name} {value}"));
    let number = |n: u64| if n == 0 { String::new() } else { n.to_string() };
    let mut facts = vec![
        ("measured", given.time()),
        ("command", p.command.join(" ")),
        ("version", p.version.clone()),
        ("commit", p.tree.short()),
        ("branch", p.tree.branch.clone()),
        ("compiler", p.compiler.clone()),
        ("flags", p.flags.clone()),
        ("settings", settings.collect::<Vec<_>>().join(", ")),
        ("processor", m.cpu.clone()),
        ("processors", number(m.cores as u64)),
        ("architecture", m.arch.clone()),
        ("system", m.os.clone()),
        (
            "memory",
            if m.memory_kib == 0 { String::new() } else { format!("{} MiB", m.memory_kib / 1024) },
        ),
        ("huge pages", m.huge_pages.clone()),
        ("rounds", number(given.report.rounds() as u64)),
        ("seed", number(p.seed)),
    ];
    facts.retain(|(_, value)| !value.is_empty());
    facts
}

/// The scorecards of some runs, one for each suite; if several runs have a suite, the last one's. Experiments
/// have none.
pub fn scorecards(all: &[Given]) -> Vec<Scorecard> {
    let compared = all.iter().filter(|given| given.report.experiment.is_none());
    newest_suites(compared).iter().map(|(_, suite)| Scorecard::of(suite)).collect()
}

/// The suites of all runs, each from the last run that has it.
pub(super) fn newest_suites<'a>(
    all: impl IntoIterator<Item = &'a Given>,
) -> Vec<(&'a Given, Suite<'a>)> {
    let mut newest: Vec<(&Given, Suite)> = Vec::new();
    for given in all {
        for suite in Suite::all(&given.report) {
            match newest.iter_mut().find(|(_, other)| other.name == suite.name) {
                Some(other) => *other = (given, suite),
                None => newest.push((given, suite)),
            }
        }
    }
    newest
}

impl Scorecard {
    /// The scorecard as tables.
    pub fn parts(&self) -> Vec<Part> {
        let mut parts = vec![self.shares()];
        if !self.milestones.is_empty() {
            parts.push(self.milestone_table());
        }
        if !self.against_best.is_empty() {
            parts.push(self.losses());
        }
        parts
    }

    fn shares(&self) -> Part {
        let mut header = vec!["", "throughput", "95 % interval"];
        if !self.extremes.is_empty() {
            header.extend(["without extremes", "95 % interval"]);
        }
        header.extend(["memory", "95 % interval"]);
        let mut table = Table::new(header);
        for line in &self.subjects {
            table.row(self.cells(line));
        }
        Part::new(format!("Scorecard: {}", self.suite), self.sentences(), Some(table))
    }

    fn cells(&self, line: &Line) -> Vec<String> {
        let lost = || if line.lost.is_empty() { "\u{2013}" } else { "lost" }.to_owned();
        let with_interval = |mean: Option<Mean>| match mean {
            Some(mean) => [digits(mean.share.ratio), interval(mean.share)],
            None => [lost(), String::new()],
        };
        let mut cells = vec![line.subject.clone()];
        cells.extend(with_interval(line.throughput));
        if !self.extremes.is_empty() {
            cells.extend(with_interval(line.without_extremes));
        }
        cells.extend(with_interval(line.memory));
        cells
    }

    /// Explains the numbers.
    pub(super) fn sentences(&self) -> String {
        let mut text = format!(
            "Shares of {}: how many times faster, and how many times less memory at the peak; above 1 is better. Geometric means over {}: {}.",
            self.reference,
            counted(self.rows.len(), "row"),
            self.rows.join(", ")
        );
        if !self.extremes.is_empty() {
            text += &format!(" The extremes are {}.", self.extremes.join(", "));
        }
        for line in &self.subjects {
            match line.throughput {
                Some(mean) if mean.rows < self.rows.len() => {
                    text += &format!(" {} has only {} of the rows.", line.subject, mean.rows);
                }
                None if !line.lost.is_empty() => {
                    text += &format!(" {} lost {}.", line.subject, line.lost.join(", "));
                }
                _ => {}
            }
        }
        text
    }

    fn milestone_table(&self) -> Part {
        let mut table = Table::new(["milestone", "wanted", "measured", "95 % interval", ""]);
        for m in &self.milestones {
            table.row([
                m.what.clone(),
                digits(m.wanted),
                digits(m.measured.ratio),
                interval(m.measured),
                m.reached.words().into(),
            ]);
        }
        let ours = self.ours.as_deref().unwrap_or_default();
        let text = format!(
            "How many times faster (or leaner) {ours} is. Open: what is wanted lies within the interval."
        );
        Part::new(format!("Milestones: {}", self.suite), text, Some(table))
    }

    fn losses(&self) -> Part {
        let mut table = Table::new(["row", "best other", "times faster", "95 % interval"]);
        let lost = self.against_best.iter().take_while(|row| row.share.ratio < 1.0);
        for row in lost.clone().take(MOST_LOST) {
            let ratio = digits(row.share.ratio);
            table.row([row.row.clone(), row.best.clone(), ratio, interval(row.share)]);
        }
        let (lost, all) = (lost.count(), self.against_best.len());
        let ours = self.ours.as_deref().unwrap_or_default();
        let mut text = format!(
            "Of {}, {ours} is behind the best other subject in {lost}.",
            counted(all, "row")
        );
        if lost > MOST_LOST {
            text += &format!(" The {MOST_LOST} worst:");
        }
        Part::new(format!("Where most is lost: {}", self.suite), text, (lost > 0).then_some(table))
    }
}

/// An interval, if there is one.
pub(super) fn interval(share: Share) -> String {
    share
        .ci95
        .map_or_else(String::new, |[low, high]| format!("{}\u{2013}{}", digits(low), digits(high)))
}
