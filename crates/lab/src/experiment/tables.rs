//! The tables that `allod ab` and `allod matrix` print.

use super::advice::{gain, signed};
use super::result::{Experiment, Matrix, Measured};
use crate::model::Report;
use crate::stats::{FEWEST, Ratio};
use crate::table::{Table, digits};
use crate::views::GEOMETRIC_MEAN;
use std::fmt::Write;

/// For each workload its points, effects, sums and advice; then what the points are.
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
        name => format!("{name}: medians of {} interleaved rounds\n\n", matrix.rounds),
    };
    let _ = writeln!(text, "{}", point_table(experiment, matrix));
    if experiment.factors.len() > 1 {
        let _ = writeln!(text, "{}\n{}", effect_table(matrix), sum_table(matrix));
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
    let measured = matrix.points.iter().all(|p| p.median.is_some());
    let costs = [experiment.metric.unit.clone().into_owned(), "± sd".into()];
    let header = std::iter::once("point".to_owned())
        .chain(factors.iter().map(|f| (*f).to_owned()))
        .chain(costs.into_iter().filter(|_| measured))
        .chain(["times faster", "95 % interval", "verdict"].map(str::to_owned));
    let mut table = Table::new(header);
    for (i, (row, point)) in matrix.points.iter().zip(&experiment.points).enumerate() {
        let mut cells = vec![row.point.clone()];
        let level = |f: &&str| if point.on.iter().any(|on| on == f) { "on" } else { "off" };
        cells.extend(factors.iter().map(|f| level(f).to_owned()));
        cells.extend(cost(row));
        match i {
            0 => cells.extend(["1".into(), String::new(), "baseline".into()]),
            _ => cells.extend(ratio(&row.ratio)),
        }
        table.row(cells);
    }
    table
}

fn cost(row: &Measured) -> Vec<String> {
    [row.median, row.stddev].into_iter().flatten().map(digits).collect()
}

/// Main effects and interactions.
pub(crate) fn effect_table(matrix: &Matrix) -> Table {
    let mut table = Table::new(["effect", "times faster", "95 % interval", "verdict"]);
    for effect in &matrix.effects {
        let name = effect.factors.join(" × ");
        table.row(std::iter::once(name).chain(ratio(&effect.ratio)));
    }
    table
}

/// What was measured against what would be if gains added up.
pub(crate) fn sum_table(matrix: &Matrix) -> Table {
    let columns = ["sum of gains", "predicted %", "measured %", "points", "95 % interval", ""];
    let mut table = Table::new(columns);
    for sum in &matrix.additivity {
        let [low, high] = sum.ci95.map(signed);
        table.row([
            sum.point.clone(),
            gain(sum.predicted),
            gain(sum.measured),
            signed(sum.points),
            format!("{low} to {high}"),
            sum.sum.word().into(),
        ]);
    }
    table
}

fn ratio(ratio: &Ratio) -> [String; 3] {
    let Ratio { ratio, ci95, verdict } = ratio;
    [format!("{ratio:.4}"), format!("{:.4}–{:.4}", ci95[0], ci95[1]), verdict.word().into()]
}

fn reading(experiment: &Experiment) -> String {
    let none = &experiment.points[0].name;
    let share = 100.0 * experiment.threshold;
    let mut text = format!(
        "\"times faster\" than {none}: above 1 is better. GO and NO-GO: beyond ±{share} % with the whole\n\
         interval on that side of 1; EQUIVALENT: the whole interval within that; else UNDECIDED, as with\n\
         fewer than {FEWEST} rounds.\n"
    );
    if experiment.factors.len() > 1 {
        text += "An effect is a factor's, averaged over all levels of the others; with ×, how many times faster\n\
                 both are than the product of what each does. \"points\": measured less the sum of what the\n\
                 factors bring alone, in percent of the speed without any.\n";
    }
    text + "\n"
}

/// What the factors and the points are.
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
