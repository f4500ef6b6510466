//! Every observation of every row.

use super::super::Given;
use super::super::chart::{Strip, strips};
use super::super::suite::Suite;
use super::{Section, card};
use maud::{Markup, html};

pub(super) fn section(suites: &[(&Given, Suite)]) -> Option<Section> {
    let with: Vec<(&Suite, Vec<Markup>)> = suites
        .iter()
        .map(|(_, suite)| (suite, suite.rows.iter().filter_map(|row| of_row(suite, row)).collect()))
        .filter(|(_, cards): &(_, Vec<Markup>)| !cards.is_empty())
        .collect();
    let body = html! {
        p {
            "Each dot is one round; the line is their median, and the box holds their middle half. Less is better. An axis is \
             logarithmic where the slowest is many times slower than the fastest."
        }
        @for (suite, cards) in &with {
            h3 { (suite.name) }
            div.cards { @for card in cards { (card) } }
        }
    };
    (!with.is_empty()).then_some(Section { anchor: "distributions", title: "Distributions", body })
}

fn of_row<'a>(suite: &Suite<'a>, row: &'a str) -> Option<Markup> {
    let strip =
        |subject: &&str| Strip { name: (*subject).into(), values: suite.values(row, subject) };
    let arms: Vec<Strip> =
        suite.subjects.iter().map(strip).filter(|s| !s.values.is_empty()).collect();
    let chart = || strips(&format!("Observations of {row}"), suite.unit(row), &arms);
    (!arms.is_empty()).then(|| card(row, &chart()))
}
