//! Every observation as a dot, with the middle half of them in a box.

use super::{Axis, Ink, Scale, Surroundings, draw, fitting, path, room};
use crate::stats::median;
use plotters::element::{Circle, Rectangle};
use plotters::style::Color;

/// The height of a strip.
const STRIP: u32 = 24;
/// If the greatest value is at least this many times the least, the axis is logarithmic.
const WIDE: f64 = 8.0;

/// The observations of one arm.
#[derive(Clone, Debug, PartialEq)]
pub struct Strip {
    /// The arm's name.
    pub name: String,
    /// Its values, in the order of the rounds.
    pub values: Vec<f64>,
}

/// A strip for each arm, on a common axis; `unit` is the values' unit.
pub fn strips(label: &str, unit: &str, strips: &[Strip]) -> String {
    let all = || strips.iter().flat_map(|s| s.values.iter().copied());
    let (low, high) = all().fold((f64::INFINITY, 0.0), |(l, h), v| (v.min(l), v.max(h)));
    let wide = low > 0.0 && high / low >= WIDE;
    let (factor, unit) = in_a_unit_that_fits(unit, if wide { low } else { high });
    let scale = if wide { Scale::Logarithmic } else { Scale::Linear };
    let names: Vec<String> = strips.iter().map(|s| fitting(&s.name)).collect();
    let around = Surroundings {
        label,
        height: 46 + STRIP * strips.len() as u32,
        x: Axis::over(scale, all().map(|v| v / factor), 5),
        left: room(names.iter().map(String::as_str)),
        y: Axis::names(names, true),
        names: [&unit, ""],
        right: 14,
        lines_across: false,
    };
    draw(around, |plot, _| {
        let area = plot.plotting_area().clone();
        for (i, strip) in strips.iter().enumerate() {
            let y = i as f64;
            let values: Vec<f64> = strip.values.iter().map(|v| v / factor).collect();
            let [low, high] = quartiles(&values);
            let frame = Ink::Neutral.color().stroke_width(1);
            let corners = [(low, y - 0.3), (high, y + 0.3)];
            area.draw(&Rectangle::new(corners, frame)).expect(super::DRAWN);
            for (round, value) in values.iter().enumerate() {
                let dot = Circle::new((*value, y + offset(round)), 2, Ink::Go.color().filled());
                area.draw(&dot).expect(super::DRAWN);
            }
            let middle = median(&values);
            let line = path([(middle, y - 0.36), (middle, y + 0.36)], Ink::Text, 2);
            area.draw(&line).expect(super::DRAWN);
        }
    })
}

/// Moves the dots of neighbouring rounds apart, always in the same way.
fn offset(round: usize) -> f64 {
    [0.0, 0.14, -0.14, 0.07, -0.2, 0.2, -0.07][round % 7]
}

/// The medians of the lower and of the upper half, the middle one in both.
fn quartiles(values: &[f64]) -> [f64; 2] {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len().div_ceil(2);
    [median(&sorted[..half]), median(&sorted[sorted.len() - half..])]
}

/// The divisor that brings values to a readable size, and their unit then.
pub(super) fn in_a_unit_that_fits(unit: &str, value: f64) -> (f64, String) {
    let steps: &[(&str, f64)] = match unit {
        u if u.starts_with("ns") => &[("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)],
        u if u.starts_with("ms") => &[("ms", 1.0), ("s", 1e3)],
        u if u.starts_with("KiB") => &[("KiB", 1.0), ("MiB", 1024.0), ("GiB", 1024.0 * 1024.0)],
        _ => return (1.0, unit.to_owned()),
    };
    let fits = steps.iter().rev().find(|(_, factor)| value >= 1.0 * factor).unwrap_or(&steps[0]);
    let rest = &unit[steps[0].0.len()..];
    (fits.1, format!("{}{}", fits.0, rest.replace("/op", " per operation")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_fit_the_values() {
        assert_eq!(in_a_unit_that_fits("ns/op", 8.9e6), (1e6, "ms per operation".into()));
        assert_eq!(in_a_unit_that_fits("ns/20 ops", 5.0), (1.0, "ns/20 ops".into()));
        assert_eq!(in_a_unit_that_fits("KiB", 3000.0), (1024.0, "MiB".into()));
        assert_eq!(in_a_unit_that_fits("count", 9e9), (1.0, "count".into()));
    }

    #[test]
    fn the_box_holds_the_middle_half() {
        assert_eq!(quartiles(&[9.0, 1.0, 2.0, 3.0, 4.0]), [2.0, 4.0]);
        assert_eq!(quartiles(&[5.0]), [5.0, 5.0]);
    }
}
