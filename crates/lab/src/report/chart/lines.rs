//! Several lines over one axis.

use super::ink::LINES;
use super::strips::in_a_unit_that_fits;
use super::{Axis, Ink, Scale, Surroundings, draw, path, room};
use plotters::element::Circle;
use plotters::series::DashedLineSeries;
use plotters::style::Color;

/// One line; its place in the list is its colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// What it is of.
    pub name: String,
    /// Its points.
    pub points: Vec<(f64, f64)>,
    /// The interval of each point; may be empty.
    pub intervals: Vec<[f64; 2]>,
}

/// How lines are drawn.
#[derive(Clone, Debug)]
pub struct Style<'a> {
    /// What the chart shows, for those who hear it.
    pub label: &'a str,
    /// What lies along the x axis.
    pub along: &'a str,
    /// Names instead of numbers on the x axis, at 0, 1, 2, …
    pub names: Option<Vec<String>>,
    /// The unit of the values.
    pub unit: &'a str,
    /// Equal ratios at equal distances, with 1 marked; otherwise from 0 up.
    pub ratios: bool,
}

/// Draws lines. Colours tell them apart, and from the ninth on dashes.
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
            let aside = if style.names.is_some() { aside(i, lines.len()) } else { 0.0 };
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
            match i / LINES {
                0 => area.draw(&path(points, ink, 2)).expect(super::DRAWN),
                _ => {
                    let dashed = DashedLineSeries::new(points, 4, 3, stroke);
                    plot.draw_series(dashed).expect(super::DRAWN);
                }
            }
        }
    })
}

/// Moves points of the same name apart, so that their intervals stand beside one another.
fn aside(line: usize, lines: usize) -> f64 {
    let step = (0.4 / lines as f64).min(0.06);
    (line as f64 - (lines - 1) as f64 / 2.0) * step
}
