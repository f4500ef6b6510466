//! Several lines over one axis.

use super::ink::LINES;
use super::strips::in_a_unit_that_fits;
use super::{Axis, Ink, Scale, Surroundings, draw, path, room};
use plotters::element::Circle;
use plotters::series::DashedLineSeries;
use plotters::style::Color;

/// One line; its position in the list decides its colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// The interval of each point; may be empty.
    pub intervals: Vec<[f64; 2]>,
    /// Whether it is dashed, for values that were not measured.
    pub dashed: bool,
}

impl Line {
    /// Whether the line at a position in the list is dashed, because colours repeat from there
    /// on.
    pub fn is_dashed(&self, place: usize) -> bool {
        self.dashed || place >= LINES
    }
}

/// How lines are drawn.
#[derive(Clone, Debug)]
pub struct Style<'a> {
    /// What the chart shows, for screen readers.
    pub label: &'a str,
    /// What the x axis shows.
    pub along: &'a str,
    /// Names instead of numbers on the x axis, at 0, 1, 2, …
    pub names: Option<Vec<String>>,
    /// The unit of the values.
    pub unit: &'a str,
    /// Logarithmic, with 1 marked; otherwise linear from 0 up.
    pub ratios: bool,
}

/// Draws lines. They differ by colour, and from the ninth on also by dashes.
pub fn lines(style: &Style, lines: &[Line]) -> String {
    let values = || {
        let of = |l: &Line| {
            let ends = l.intervals.iter().flatten().copied();
            l.points.iter().map(|p| p.1).chain(ends).collect::<Vec<_>>()
        };
        lines.iter().flat_map(of)
    };
    let (factor, unit) = in_a_unit_that_fits(style.unit, values().fold(0.0, f64::max));
    let y = match style.ratios {
        true => Axis::over(Scale::Logarithmic, values().chain([0.95, 1.05]), 5),
        false => Axis::from_0(values().map(|v| v / factor), 5),
    };
    let along = || lines.iter().flat_map(|l| l.points.iter().map(|p| p.0));
    let x = match &style.names {
        Some(names) => Axis::names(names.clone(), false),
        None => Axis::from_0(along(), 4),
    };
    let around = Surroundings {
        label: style.label,
        height: 210,
        left: room(y.labels()),
        x,
        y,
        names: [style.along, &unit],
        right: 18,
        lines_across: true,
    };
    draw(around, |plot, _| {
        let area = plot.plotting_area().clone();
        for (i, line) in lines.iter().enumerate() {
            let ink = Ink::Line(i);
            let aside = if line.intervals.is_empty() { 0.0 } else { aside(i, lines.len()) };
            let points: Vec<(f64, f64)> =
                line.points.iter().map(|(x, y)| (x + aside, y / factor)).collect();
            for ((x, _), [low, high]) in points.iter().zip(&line.intervals) {
                let interval = path([(*x, low / factor), (*x, high / factor)], ink, 1);
                area.draw(&interval).expect(super::DRAWN);
            }
            if style.names.is_some() {
                for point in &points {
                    area.draw(&Circle::new(*point, 3, ink.color().filled())).expect(super::DRAWN);
                }
            }
            let stroke = ink.color().stroke_width(2);
            match line.is_dashed(i) {
                false => area.draw(&path(points, ink, 2)).expect(super::DRAWN),
                true => {
                    let dashed = DashedLineSeries::new(points, 4, 3, stroke);
                    plot.draw_series(dashed).expect(super::DRAWN);
                }
            }
        }
    })
}

/// Moves points of the same name apart, so that their intervals are side by side.
fn aside(line: usize, lines: usize) -> f64 {
    let step = (0.4 / lines as f64).min(0.06);
    (line as f64 - (lines - 1) as f64 / 2.0) * step
}
