//! How each row changed from one run to the next.

use super::super::Given;
use super::super::chart::{self, Line, lines};
use super::super::suite::Suite;
use super::{Section, card, legend};
use maud::{Markup, html};

/// The most runs whose numbers fit below a chart.
const MOST_NUMBERED: usize = 12;

pub(super) fn section(all: &[Given], suites: &[(&Given, Suite)]) -> Option<Section> {
    let histories: Vec<(&Suite, Vec<&Given>)> = suites
        .iter()
        .map(|(_, suite)| (suite, having(all, suite.name)))
        .filter(|(_, runs)| runs.len() > 1)
        .collect();
    let body = html! {
        p {
            "Ratios, not times: between two runs a machine changes by more than the differences one looks for. Each ratio is against the \
             reference of the same run, with its 95 % interval."
        }
        @for (suite, runs) in &histories {
            h3 { (suite.name) ": times better than " (suite.reference) }
            ol.runs { @for given in runs { li { (given.label) " " span.quiet { (given.time()) " " (given.report.provenance.tree.short()) } } } }
            (legend(&lines_of(suite, runs, suite.rows[0])))
            div.cards { @for row in &suite.rows { (of_row(suite, runs, row)) } }
        }
    };
    (!histories.is_empty()).then_some(Section { anchor: "history", title: "History", body })
}

fn having<'a>(all: &'a [Given], suite: &str) -> Vec<&'a Given> {
    all.iter().filter(|given| Suite::of(&given.report, suite).is_some()).collect()
}

/// A line for each subject, even for those missing in the row: colours are the same in all charts.
fn lines_of(suite: &Suite, runs: &[&Given], row: &str) -> Vec<Line> {
    let others = suite.subjects.iter().filter(|s| **s != suite.reference);
    let line = |subject: &&str| {
        let ratio = |(i, given): (usize, &&Given)| {
            let c = given.report.comparison(suite.name, row, subject)?;
            (c.baseline == suite.reference).then_some(((i as f64, c.ratio), c.ci95))
        };
        let (points, intervals) = runs.iter().enumerate().filter_map(ratio).unzip();
        Line { name: (*subject).into(), points, intervals, dashed: false }
    };
    others.map(line).collect()
}

fn of_row(suite: &Suite, runs: &[&Given], row: &str) -> Markup {
    let drawn = lines_of(suite, runs, row);
    let label = format!("History of {row}");
    let style = chart::Style {
        label: &label,
        along: "run",
        names: Some(numbers(runs.len())),
        unit: "times better",
        ratios: true,
    };
    card(row, &lines(&style, &drawn))
}

/// Runs are numbered, since names would not fit; if there are many, only some are.
fn numbers(runs: usize) -> Vec<String> {
    let every = runs.div_ceil(MOST_NUMBERED);
    let number =
        |i: usize| if i.is_multiple_of(every) { (i + 1).to_string() } else { String::new() };
    (0..runs).map(number).collect()
}
