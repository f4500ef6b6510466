//! The tables that `allod ab` and `allod matrix` print.

use super::advice::{gain, signed};
use super::result::{Experiment, Matrix};
use crate::model::{Report, metric};
use crate::stats::{FEWEST, Ratio};
use crate::table::{Table, counted as number_of, digits};
use crate::views::GEOMETRIC_MEAN;
use std::fmt::Write;

/// For each workload its points, effects, sums and advice; then a description of the points.
pub fn tables(report: &Report) -> String {
    let Some(experiment) = &report.experiment else { return String::new() };
    let mut text = String::new();
    for matrix in &experiment.matrices {
        text += &one(experiment, matrix);
    }
    for f in &report.failures {
        let _ = writeln!(
            text,
            "{} lost {}: it {}.",
            f.subject,
            f.workload,
            f.reason.trim_start_matches("it ")
        );
    }
    if !experiment.matrices.is_empty() {
        text += &reading(experiment);
    }
    text + &legend(experiment)
}

fn one(experiment: &Experiment, matrix: &Matrix) -> String {
    let mut text = match matrix.workload.as_str() {
        GEOMETRIC_MEAN => "Geometric mean over these workloads\n\n".into(),
        name if counted(experiment) => format!("{name}: counted once, by callgrind\n\n"),
        name => format!("{name}: medians of {}\n\n", number_of(matrix.rounds, "interleaved round")),
    };
    let _ = writeln!(text, "{}", point_table(experiment, matrix));
    if experiment.factors.len() > 1 {
        let _ = writeln!(
            text,
            "{}\n{}",
            effect_table(experiment, matrix),
            sum_table(experiment, matrix)
        );
    }
    match &matrix.advice.choose {
        Some(point) => text += &format!("Recommended: {point}.\n"),
        None => text += "No recommendation.\n",
    }
    for reason in &matrix.advice.reasons {
        let _ = writeln!(text, "  - {reason}");
    }
    for warning in &matrix.advice.warnings {
        let _ = writeln!(text, "  ! {warning}");
    }
    text + "\n"
}

/// The points: their levels, what they cost, and how many times faster they are than the first.
pub(crate) fn point_table(experiment: &Experiment, matrix: &Matrix) -> Table {
    let factors: Vec<&str> = match experiment.factors.len() {
        1 => Vec::new(),
        _ => experiment.factors.iter().map(|f| f.name.as_str()).collect(),
    };
    let mut header = vec!["point".to_owned()];
    header.extend(factors.iter().map(|f| (*f).to_owned()));
    if matrix.points.iter().all(|p| p.median.is_some()) {
        header.push(experiment.metric.unit.clone().into_owned());
        header.extend((!counted(experiment)).then(|| "± sd".into()));
    }
    header.extend(ratio_columns(experiment));
    let mut table = Table::new(header);
    for (i, (row, point)) in matrix.points.iter().zip(&experiment.points).enumerate() {
        let mut cells = vec![row.point.clone()];
        let level = |f: &&str| if point.on.iter().any(|on| on == f) { "on" } else { "off" };
        cells.extend(factors.iter().map(|f| level(f).to_owned()));
        let stddev = row.stddev.filter(|_| !counted(experiment));
        cells.extend([row.median, stddev].into_iter().flatten().map(digits));
        let of_ratio = ratio(experiment, &row.ratio);
        match i {
            0 => {
                cells.push("1".into());
                cells.extend(of_ratio.iter().skip(2).map(|_| String::new()));
                cells.push("baseline".into());
            }
            _ => cells.extend(of_ratio),
        }
        table.row(cells);
    }
    table
}

/// Main effects and interactions.
pub(crate) fn effect_table(experiment: &Experiment, matrix: &Matrix) -> Table {
    let mut table =
        Table::new(std::iter::once("effect".to_owned()).chain(ratio_columns(experiment)));
    for effect in &matrix.effects {
        let name = effect.factors.join(" × ");
        table.row(std::iter::once(name).chain(ratio(experiment, &effect.ratio)));
    }
    table
}

/// Measured gains against the sum of the separate gains.
pub(crate) fn sum_table(experiment: &Experiment, matrix: &Matrix) -> Table {
    let interval = (!counted(experiment)).then_some("95 % interval");
    let columns = ["sum of gains", "predicted %", "measured %", "points"];
    let mut table = Table::new(columns.into_iter().chain(interval).chain([""]));
    for sum in &matrix.additivity {
        let [low, high] = sum.ci95.map(signed);
        let mut cells =
            vec![sum.point.clone(), gain(sum.predicted), gain(sum.measured), signed(sum.points)];
        cells.extend(interval.map(|_| format!("{low} to {high}")));
        cells.push(sum.sum.word().into());
        table.row(cells);
    }
    table
}

/// Counts are the same in every run: they have no interval.
fn counted(experiment: &Experiment) -> bool {
    experiment.metric.name == metric::EXECUTED.name
}

/// What a ratio above 1 means.
fn better(experiment: &Experiment) -> &'static str {
    match &experiment.metric {
        m if *m == metric::TIME || *m == metric::WALL => "times faster",
        _ if counted(experiment) => "times fewer",
        _ => "times less",
    }
}

fn ratio_columns(experiment: &Experiment) -> Vec<String> {
    let interval = (!counted(experiment)).then_some("95 % interval");
    let columns = [Some(better(experiment)), interval, Some("verdict")];
    columns.into_iter().flatten().map(str::to_owned).collect()
}

fn ratio(experiment: &Experiment, ratio: &Ratio) -> Vec<String> {
    let Ratio { ratio, ci95, verdict } = ratio;
    let interval = (!counted(experiment)).then(|| format!("{:.4}–{:.4}", ci95[0], ci95[1]));
    let mut cells = vec![format!("{ratio:.4}")];
    cells.extend(interval);
    cells.push(verdict.word().into());
    cells
}

fn reading(experiment: &Experiment) -> String {
    let none = &experiment.points[0].name;
    let share = 100.0 * experiment.threshold;
    let better = better(experiment);
    let mut text = match counted(experiment) {
        true => format!(
            "\"{better}\" than {none}: above 1 is better. GO and NO-GO: beyond ±{share} %; else EQUIVALENT.\n"
        ),
        false => format!(
            "\"{better}\" than {none}: above 1 is better. GO and NO-GO: beyond ±{share} % with the whole\n\
             interval on that side of 1; EQUIVALENT: the whole interval within that; else UNDECIDED, as with\n\
             fewer than {FEWEST} rounds.\n"
        ),
    };
    if experiment.factors.len() > 1 {
        text += &format!(
            "An effect is a factor's, averaged over all levels of the others; with ×, how many {better} both\n\
             are than the product of what each does. \"points\": measured less the sum of what the factors\n\
             bring alone, in percent of {none}.\n"
        );
    }
    text + "\n"
}

/// Describes the factors and the points.
fn legend(experiment: &Experiment) -> String {
    let mut text = String::new();
    let or_nothing =
        |text: &str| if text.is_empty() { "nothing changed".into() } else { text.to_owned() };
    let factors = experiment.factors.iter().filter(|_| experiment.factors.len() > 1);
    for f in factors {
        let _ = writeln!(
            text,
            "  {}: off is {}, on is {}",
            f.name,
            or_nothing(&f.off),
            or_nothing(&f.on)
        );
    }
    if let ([a, b], [f]) = (&experiment.points[..], &experiment.factors[..]) {
        let _ = writeln!(
            text,
            "  {}: {}\n  {}: {}",
            a.name,
            or_nothing(&f.off),
            b.name,
            or_nothing(&f.on)
        );
    }
    if !experiment.shared.is_empty() {
        let _ = writeln!(text, "  all of them: {}", experiment.shared);
    }
    let first = &experiment.points[0].origin;
    if experiment.points.iter().all(|p| p.origin == *first) {
        let _ = writeln!(text, "  on {first}");
    } else {
        for p in &experiment.points {
            let _ = writeln!(text, "  {} on {}", p.name, p.origin);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Measurement, PointRow, Points, Rounds, matrix};
    use crate::model::Metric;
    use crate::views::tests::report;

    fn page(metric: Metric, points: &Points, costs: &[f64], counting: bool) -> String {
        let rounds = Rounds::of(&vec![costs.to_vec(); if counting { 1 } else { 6 }]);
        let found = matrix("lifo", points, &Measurement::of(&[rounds], counting), 0.01);
        let row = |(i, name): (usize, &String)| PointRow {
            name: name.clone(),
            on: points.on(i),
            origin: "Allod".into(),
            commit: None,
        };
        let factor = |name: &String| super::super::FactorRow {
            name: name.clone(),
            off: String::new(),
            on: "A=1".into(),
        };
        let mut report = report(&[]);
        report.experiment = Some(Experiment {
            factors: points.factors.iter().map(factor).collect(),
            shared: "B=2".into(),
            metric,
            threshold: 0.01,
            points: points.names.iter().enumerate().map(row).collect(),
            matrices: vec![found],
        });
        tables(&report)
    }

    #[test]
    fn a_matrix_shows_points_effects_sums_and_what_they_are() {
        let text = page(metric::TIME, &Points::of(&["x", "y"]), &[12.0, 6.0, 4.0, 1.0], false);
        for words in [
            "point  x    y",
            "x,y     on   on",
            "12.0000–12.0000",
            "x × y",
            "times faster",
            "x,y               +300.00     +1100.00  +800.00  +800.00 to +800.00  super-additive",
            "Recommended: x,y.",
            "x: off is nothing changed, on is A=1",
            "all of them: B=2",
        ] {
            let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(squeezed(&text).contains(&squeezed(words)), "{words} in {text}");
        }
    }

    #[test]
    fn a_pair_has_neither_effects_nor_sums_beside_its_ratio() {
        let text =
            page(Metric::new("cost", "printed"), &Points::pair("a", "b"), &[2.0, 1.0], false);
        assert!(text.contains("times less") && text.contains("b: A=1"), "{text}");
        assert!(!text.contains("effect") && !text.contains("sum of gains"), "{text}");
    }

    #[test]
    fn what_is_counted_has_no_intervals() {
        let points = Points::of(&["x", "y"]);
        let text = page(metric::EXECUTED_PER_OPERATION, &points, &[12.0, 6.0, 4.0, 1.0], true);
        assert!(text.contains("times fewer") && text.contains("counted once"), "{text}");
        assert!(!text.contains("interval") && !text.contains("± sd"), "{text}");
        assert!(text.contains("x pays beside the others: +300.00 %\n"), "{text}");
    }
}
