//! Where the numbers came from, and what limits them.

use super::super::Given;
use super::super::tables::facts;
use super::Section;
use crate::notes::notes;
use maud::html;

pub(super) fn section(all: &[Given]) -> Section {
    let body = html! {
        @for given in all {
            h3 { (given.label) }
            div.scroll {
                table.facts {
                    tbody { @for (name, value) in facts(given) { tr { th scope="row" { (name) } td { (value) } } } }
                }
            }
            @for line in notes(&given.report).lines() { p { (line) } }
            @for f in &given.report.failures { p { (f.subject) " lost " (f.workload) ": " (f.reason) "." } }
        }
    };
    Section { anchor: "provenance", title: "Provenance", body }
}
