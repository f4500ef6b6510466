//! Memory over time.

use super::super::Given;
use super::super::chart::{self, Line, lines};
use super::{Section, card_with, legend};
use crate::model::Series;
use maud::{Markup, html};

pub(super) fn section(all: &[Given]) -> Option<Section> {
    let charts: Vec<Markup> = all.iter().flat_map(of_run).collect();
    let body = html! {
        p { "Resident memory above the start, from a separate run for each subject, which is not timed." }
        div.cards { @for chart in &charts { (chart) } }
    };
    (!charts.is_empty()).then_some(Section { anchor: "memory", title: "Memory over time", body })
}

fn of_run(given: &Given) -> Vec<Markup> {
    let mut workloads: Vec<&str> = Vec::new();
    for series in &given.report.series {
        if !workloads.contains(&series.workload.as_str()) {
            workloads.push(&series.workload);
        }
    }
    workloads.into_iter().map(|workload| of_workload(given, workload)).collect()
}

fn of_workload(given: &Given, workload: &str) -> Markup {
    let all: Vec<&Series> = given.report.series.iter().filter(|s| s.workload == workload).collect();
    let line = |s: &&Series| Line {
        name: s.arm.clone(),
        points: s.points.iter().map(|[x, y]| (*x, *y)).collect(),
        intervals: Vec::new(),
        dashed: false,
    };
    let drawn: Vec<Line> = all.iter().map(line).collect();
    let label = format!("Memory over time of {workload}");
    let style = chart::Style {
        label: &label,
        along: &all[0].along,
        names: None,
        unit: &all[0].metric.unit,
        ratios: false,
    };
    let heading = format!("{workload} ({})", given.label);
    html! { (card_with(&heading, &lines(&style, &drawn), legend(&drawn))) }
}
