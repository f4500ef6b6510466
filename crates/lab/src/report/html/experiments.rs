//! Experiments: every combination of some factors, what each factor does, and what they do together.

use super::super::Given;
use super::super::chart::{Entry, Line, Style, forest, lines};
use super::super::suite::Share;
use super::{Section, card, card_with, legend, table};
use crate::experiment::{Experiment, Matrix, effect_table, point_table, sum_table};
use crate::stats::{Ratio, geometric_mean};
use maud::{Markup, html};

pub(super) fn section(all: &[Given]) -> Option<Section> {
    let with = || all.iter().filter_map(|given| Some((given, given.report.experiment.as_ref()?)));
    let body = html! {
        p {
            "Every combination of the factors was measured, interleaved. In a chart of two factors, parallel lines mean \
             that neither depends on the other; the dashed line is what would be measured if gains added up."
        }
        @for (given, experiment) in with() {
            h3 { (given.label) }
            (factors(experiment))
            @for matrix in &experiment.matrices { (of_matrix(experiment, matrix)) }
        }
    };
    with().next().map(|_| Section { anchor: "experiments", title: "Experiments", body })
}

fn factors(experiment: &Experiment) -> Markup {
    let level =
        |text: &str| if text.is_empty() { "nothing changed".to_owned() } else { text.to_owned() };
    html! {
        @for f in &experiment.factors {
            p { strong { (f.name) } ": off is " (level(&f.off)) ", on is " (level(&f.on)) "." }
        }
        @if !experiment.shared.is_empty() { p { "All points have " (experiment.shared) "." } }
    }
}

fn of_matrix(experiment: &Experiment, matrix: &Matrix) -> Markup {
    let several = experiment.factors.len() > 1;
    let first = experiment.points.first().map_or("", |point| point.name.as_str());
    let what = format!("times faster than {first}");
    let points = matrix.points.iter().map(|p| entry(p.point.clone(), p.ratio)).collect::<Vec<_>>();
    let effects = matrix.effects.iter().map(|e| entry(e.factors.join(" × "), e.ratio));
    let effects: Vec<Entry> = effects.collect();
    let name = &matrix.workload;
    html! {
        h3 { (name) }
        @if let Some(point) = &matrix.advice.choose { p { strong { "Recommended: " (point) "." } } }
        @if !matrix.advice.reasons.is_empty() {
            ul { @for reason in &matrix.advice.reasons { li { (reason) } } }
        }
        @for warning in &matrix.advice.warnings { p.warning { (warning) } }
        div.cards {
            (card("Points", &forest(&format!("Points of {name}"), &what, &points)))
            @if several {
                (card("Effects and interactions", &forest(&format!("Effects in {name}"), "times faster", &effects)))
                @for [a, b] in pairs(experiment.factors.len()) { (interaction(experiment, matrix, a, b)) }
            }
        }
        (table(&point_table(experiment, matrix)))
        @if several { (table(&effect_table(experiment, matrix))) (table(&sum_table(experiment, matrix))) }
    }
}

fn entry(name: String, Ratio { ratio, ci95, .. }: Ratio) -> Entry {
    Entry { name, share: Share { ratio, ci95: Some(ci95) } }
}

fn pairs(factors: usize) -> impl Iterator<Item = [usize; 2]> {
    (0..factors).flat_map(move |a| (a + 1..factors).map(move |b| [a, b]))
}

/// Speed with the first factor off and on, one line for each level of the second; means over the
/// levels of all others.
fn interaction(experiment: &Experiment, matrix: &Matrix, a: usize, b: usize) -> Markup {
    let [on_a, on_b] = [a, b].map(|factor| experiment.factors[factor].name.as_str());
    let mean = |a_on: bool, b_on: bool| {
        let levels = |point: usize| (point >> a & 1 == 1, point >> b & 1 == 1) == (a_on, b_on);
        let points = matrix.points.iter().enumerate().filter(|(i, _)| levels(*i));
        geometric_mean(&points.map(|(_, p)| p.ratio.ratio).collect::<Vec<_>>())
    };
    let [off, with_a, with_b] = [mean(false, false), mean(true, false), mean(false, true)];
    let line = |name: String, from, to, dashed| Line {
        name,
        points: vec![(0.0, from), (1.0, to)],
        intervals: Vec::new(),
        dashed,
    };
    let drawn = [
        line(format!("{on_b} off"), off, with_a, false),
        line(format!("{on_b} on"), with_b, mean(true, true), false),
        line(format!("{on_b} on, if gains added up"), with_b, with_a + with_b - off, true),
    ];
    let heading = format!("{on_a} and {on_b}");
    let label = format!("Interaction of {heading} in {}", matrix.workload);
    let style = Style {
        label: &label,
        along: on_a,
        names: Some(vec!["off".into(), "on".into()]),
        unit: "times faster",
        ratios: true,
    };
    card_with(&heading, &lines(&style, &drawn), legend(&drawn))
}
