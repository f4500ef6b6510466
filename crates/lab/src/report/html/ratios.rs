//! Every ratio: all of them as a table, and each row with its intervals as a chart.

use super::super::Given;
use super::super::chart::{Entry, forest};
use super::super::suite::Suite;
use super::{Section, card};
use crate::table::digits;
use maud::{Markup, html};

pub(super) fn section(suites: &[(&Given, Suite)]) -> Option<Section> {
    let body = html! {
        p {
            "Above 1 is better. Charts show 95 % intervals: blue and filled where the whole interval is above 1, orange where it \
             is below, hollow where it holds 1."
        }
        @for (given, suite) in suites {
            h3 { (suite.name) ": times better than " (suite.reference) }
            p.quiet { "From " (given.label) "." }
            (matrix(suite))
            div.cards { @for row in &suite.rows { (of_row(suite, row)) } }
        }
    };
    (!suites.is_empty()).then_some(Section { anchor: "ratios", title: "Ratios", body })
}

/// All rows and all subjects, bluer for better.
fn matrix(suite: &Suite) -> Markup {
    let subjects: Vec<&str> =
        suite.subjects.iter().copied().filter(|s| *s != suite.reference).collect();
    let ratio = |row, subject| suite.ratio(row, subject, suite.reference).map(|share| share.ratio);
    html! {
        div.scroll {
            table {
                thead { tr { th {} @for s in &subjects { th scope="col" { (s) } } } }
                tbody {
                    @for row in &suite.rows {
                        tr {
                            th scope="row" { (row) }
                            @for s in &subjects {
                                @match ratio(row, s) {
                                    Some(r) => td class=[shade(r)] { (digits(r)) },
                                    None => td { "\u{2013}" },
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// How far a ratio is from 1, in three steps each way.
fn shade(ratio: f64) -> Option<&'static str> {
    match ratio {
        r if r >= 3.0 => Some("go-3"),
        r if r >= 1.5 => Some("go-2"),
        r if r >= 1.05 => Some("go-1"),
        r if r <= 1.0 / 3.0 => Some("no-3"),
        r if r <= 1.0 / 1.5 => Some("no-2"),
        r if r <= 1.0 / 1.05 => Some("no-1"),
        _ => None,
    }
}

fn of_row<'a>(suite: &Suite<'a>, row: &'a str) -> Markup {
    let reference = match suite.median(row, suite.reference) {
        Some(_) => suite.reference,
        // If the reference does not take part, the row has its own.
        None => suite
            .report
            .comparisons
            .iter()
            .find(|c| c.suite == suite.name && c.workload == row)
            .map_or(suite.reference, |c| c.baseline.as_str()),
    };
    let entry = |subject: &&str| {
        Some(Entry { name: (*subject).into(), share: suite.ratio(row, subject, reference)? })
    };
    let others = suite.subjects.iter().filter(|s| **s != reference);
    let entries: Vec<Entry> = others.filter_map(entry).collect();
    let label = format!("Ratios of {row}");
    html! {
        @if !entries.is_empty() {
            (card(row, &forest(&label, &format!("times better than {reference}"), &entries)))
        }
    }
}
