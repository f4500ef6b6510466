//! Where each suite stands.

use super::super::Given;
use super::super::chart::{Entry, forest};
use super::super::scorecard::{Line, Mean, Reached, Scorecard};
use super::super::tables::{interval, scorecards};
use super::{Section, card, table};
use crate::table::digits;
use maud::{Markup, html};

pub(super) fn section(all: &[Given]) -> Option<Section> {
    let cards = scorecards(all);
    let body = html! { @for card in &cards { (of(card)) } };
    (!cards.is_empty()).then_some(Section { anchor: "scorecard", title: "Scorecard", body })
}

fn of(score: &Scorecard) -> Markup {
    let faster = format!("times faster than {}", score.reference);
    let leaner = format!("times leaner than {}", score.reference);
    let shares = &score.parts()[0];
    html! {
        h3 { (score.suite) }
        p.quiet { (shares.text) }
        div.cards {
            (mean_card(score, "Throughput, all rows", &faster, |line| line.throughput))
            @if !score.extremes.is_empty() {
                (mean_card(score, "Throughput without extremes", &faster, |line| line.without_extremes))
            }
            (mean_card(score, "Peak memory", &leaner, |line| line.memory))
        }
        div.beside {
            @if !score.against_best.is_empty() { (against_best(score)) }
            div {
                @if let Some(shares) = &shares.table { (table(shares)) }
                @if !score.milestones.is_empty() { (milestones(score)) }
            }
        }
    }
}

fn mean_card(
    score: &Scorecard,
    heading: &str,
    what: &str,
    mean: impl Fn(&Line) -> Option<Mean>,
) -> Markup {
    let entry = |line: &Line| Some(Entry { name: line.subject.clone(), share: mean(line)?.share });
    let entries: Vec<Entry> = score.subjects.iter().filter_map(entry).collect();
    html! {
        @if !entries.is_empty() {
            (card(heading, &forest(&format!("{heading} of {}", score.suite), what, &entries)))
        }
    }
}

fn against_best(score: &Scorecard) -> Markup {
    let ours = score.ours.as_deref().unwrap_or_default();
    let entry = |row: &super::super::AgainstBest| Entry { name: row.row.clone(), share: row.share };
    let entries: Vec<Entry> = score.against_best.iter().map(entry).collect();
    let heading = format!("{ours} against the best other of each row");
    card(&heading, &forest(&heading, "times faster than the best other", &entries))
}

fn milestones(score: &Scorecard) -> Markup {
    let class = |reached| match reached {
        Reached::Yes => "reached",
        Reached::No => "not-reached",
        Reached::Open => "open",
    };
    let ours = score.ours.as_deref().unwrap_or_default();
    html! {
        h3 { "Milestones of " (score.suite) }
        p { "How many times faster, or leaner, " (ours) " is. Open: what is wanted lies within the 95 % interval." }
        div.scroll {
            table.words {
                thead { tr { th { "milestone" } th { "wanted" } th { "measured" } th { "95 % interval" } th {} } }
                tbody {
                    @for m in &score.milestones {
                        tr {
                            th scope="row" { (m.what) }
                            td { (digits(m.wanted)) }
                            td { (digits(m.measured.ratio)) }
                            td { (interval(m.measured)) }
                            td class=(class(m.reached)) { (m.reached.words()) }
                        }
                    }
                }
            }
        }
    }
}
