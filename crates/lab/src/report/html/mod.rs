//! A self-contained page: it needs no network and no script, follows the reader's choice of light or dark,
//! fits on a phone, and prints.

mod distributions;
mod experiments;
mod history;
mod memory;
mod provenance;
mod ratios;
mod scorecard;
#[cfg(test)]
mod tests;

use super::Given;
use super::chart::{Line, style_sheet};
use super::tables::newest_suites;
use crate::table::Table;
use maud::{DOCTYPE, Markup, PreEscaped, html};

const STYLE: &str = include_str!("style.css");

/// A part of the page: its anchor, its heading, and its contents.
struct Section {
    anchor: &'static str,
    title: &'static str,
    body: Markup,
}

/// The page. If several runs have a suite, the last one's is shown, and how each row changed.
pub fn page(all: &[Given]) -> String {
    let suites = newest_suites(all);
    let sections = [
        scorecard::section(all),
        ratios::section(&suites),
        distributions::section(&suites),
        memory::section(all),
        experiments::section(all),
        history::section(all, &suites),
        Some(provenance::section(all)),
    ];
    let sections: Vec<Section> = sections.into_iter().flatten().collect();
    let title = title(all);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                // Whatever names a report contains, nothing is loaded and nothing runs.
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                title { (title) }
                style { (PreEscaped(style_sheet())) (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (title) }
                    p.quiet { (summary(all)) }
                    nav { @for s in &sections { a href={ "#" (s.anchor) } { (s.title) } } }
                }
                main {
                    @for s in &sections {
                        section id=(s.anchor) { h2 { (s.title) } (s.body) }
                    }
                }
            }
        }
    };
    page.into_string() + "\n"
}

fn title(all: &[Given]) -> String {
    let suites: Vec<&str> = newest_suites(all).iter().map(|(_, suite)| suite.name).collect();
    match suites.is_empty() {
        true => "What was measured".into(),
        false => format!("What was measured: {}", suites.join(", ")),
    }
}

fn summary(all: &[Given]) -> String {
    let of = |given: &Given| {
        let facts = [given.time(), given.report.machine.cpu.clone()];
        let facts: Vec<String> = facts.into_iter().filter(|fact| !fact.is_empty()).collect();
        format!("{} ({})", given.label, facts.join(", "))
    };
    let runs: Vec<String> = all.iter().map(of).collect();
    format!("Made from {}.", runs.join("; "))
}

/// A chart under its heading; several fit in a row if the page is wide enough.
fn card(heading: &str, chart: &str) -> Markup {
    card_with(heading, chart, html! {})
}

/// A chart with more below it, such as its legend.
fn card_with(heading: &str, chart: &str, below: Markup) -> Markup {
    html! { figure { figcaption { (heading) } (PreEscaped(chart)) (below) } }
}

/// A table; the first column names its rows.
fn table(table: &Table) -> Markup {
    let (head, body) = table.rows().split_first().map_or((&[][..], &[][..]), |(h, b)| (&h[..], b));
    html! {
        div.scroll {
            table {
                @if head.iter().any(|cell| !cell.trim().is_empty()) {
                    thead { tr { @for cell in head { th scope="col" { (cell) } } } }
                }
                tbody {
                    @for row in body {
                        tr {
                            @for (i, cell) in row.iter().enumerate() {
                                @if i == 0 { th scope="row" { (cell) } } @else { td { (cell) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The legend of the lines.
fn legend(lines: &[Line]) -> Markup {
    html! {
        ul.legend {
            @for (i, line) in lines.iter().enumerate() {
                li style={ "--line: var(--line-" (i % 8) ")" } class=[line.is_dashed(i).then_some("dashed")] { (line.name) }
            }
        }
    }
}
