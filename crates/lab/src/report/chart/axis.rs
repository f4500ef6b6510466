//! Axes: positions of values, and labels.

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use std::ops::Range;

/// What lies at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences.
    Linear,
    /// Equal ratios.
    Logarithmic,
}

/// An axis with its labels.
#[derive(Clone, Debug)]
pub struct Axis {
    scale: Scale,
    from: f64,
    to: f64,
    labels: Vec<(f64, String)>,
}

impl Axis {
    /// An axis over some values, with about `labels` labels at most.
    pub fn over(scale: Scale, values: impl IntoIterator<Item = f64>, most: usize) -> Self {
        let usable = |v: &f64| v.is_finite() && (scale == Scale::Linear || *v > 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for v in values.into_iter().filter(usable) {
            (low, high) = (low.min(v), high.max(v));
        }
        if low > high {
            (low, high) = (1.0, 1.0);
        }
        let (from, to) = widened(scale, low, high);
        let labels = ticks(scale, from, to, most.max(2));
        Self { scale, from, to, labels: labels.into_iter().map(|v| (v, number(v))).collect() }
    }

    /// An axis of names at 0, 1, 2, …, from the top down or from left to right.
    pub fn names<S: Into<String>>(names: impl IntoIterator<Item = S>, downward: bool) -> Self {
        let labels: Vec<(f64, String)> =
            names.into_iter().enumerate().map(|(i, name)| (i as f64, name.into())).collect();
        let last = labels.len() as f64 - 0.5;
        let (from, to) = if downward { (last, -0.5) } else { (-0.5, last) };
        Self { scale: Scale::Linear, from, to, labels }
    }

    /// The labels, in order.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.labels.iter().map(|(_, label)| label.as_str())
    }

    /// The same axis from 0 on.
    pub fn from_0(values: impl IntoIterator<Item = f64>, most: usize) -> Self {
        let mut axis = Self::over(Scale::Linear, values.into_iter().chain([0.0]), most);
        axis.from = 0.0;
        axis.labels.retain(|(v, _)| *v >= 0.0);
        axis
    }

    fn share(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.from) / (self.to - self.from),
            Scale::Logarithmic => (value / self.from).ln() / (self.to / self.from).ln(),
        }
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (begin, end): (i32, i32)) -> i32 {
        let share = self.share(*value).clamp(0.0, 1.0);
        begin + (share * f64::from(end - begin)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight().allow_light_points() {
            true => Vec::new(),
            false => self.labels.iter().map(|(v, _)| *v).collect(),
        }
    }

    fn range(&self) -> Range<f64> {
        self.from..self.to
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let label = self.labels.iter().find(|(v, _)| v == value);
        label.map_or_else(String::new, |(_, label)| label.clone())
    }
}

/// A range slightly wider than the values, and never empty.
fn widened(scale: Scale, low: f64, high: f64) -> (f64, f64) {
    match scale {
        Scale::Linear => {
            let more = ((high - low) * 0.05).max(high.abs() * 0.01).max(1e-9);
            (low - more, high + more)
        }
        Scale::Logarithmic => {
            let more = (high / low).powf(0.05).max(1.02);
            (low / more, high * more)
        }
    }
}

/// Round numbers within a range, at most `most` of them if possible.
fn ticks(scale: Scale, from: f64, to: f64, most: usize) -> Vec<f64> {
    if scale == Scale::Linear || to / from < 4.0 {
        return steps(from, to, most);
    }
    let (first, last) = (from.log10().floor() as i32, to.log10().ceil() as i32);
    let of = |mantissas: &[f64], every: usize| -> Vec<f64> {
        let decades = (first..=last).filter(|d| d.rem_euclid(every as i32) == 0);
        let values = decades.flat_map(|d| mantissas.iter().map(move |m| m * 10f64.powi(d)));
        values.filter(|v| (from..=to).contains(v)).collect()
    };
    let finest = [of(&[1.0, 2.0, 5.0], 1), of(&[1.0, 3.0], 1)];
    let coarser = (1..).map(|every| of(&[1.0], every));
    finest.into_iter().chain(coarser).find(|ticks| ticks.len() <= most).unwrap_or_default()
}

/// Multiples of 1, 2 or 5 times a power of 10.
fn steps(from: f64, to: f64, most: usize) -> Vec<f64> {
    let least = (to - from) / most as f64;
    let decade = 10f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * decade).into_iter().find(|s| *s >= least);
    let step = step.unwrap_or(10.0 * decade);
    let first = (from / step).ceil() as i64;
    (first..).map(|i| i as f64 * step).take_while(|v| *v <= to).collect()
}

/// A round number in its shortest form; thousands and millions by letter.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    match magnitude {
        m if m >= 1e6 => return number(value / 1e6) + " M",
        m if m >= 1e4 => return number(value / 1e3) + " k",
        _ => {}
    }
    let places =
        if magnitude == 0.0 { 0 } else { (3 - magnitude.log10().floor() as i32).clamp(0, 9) };
    let text = format!("{value:.*}", places as usize);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.labels().collect()
    }

    #[test]
    fn labels_are_round_numbers_and_few() {
        let wide = Axis::over(Scale::Logarithmic, [0.03, 11.4], 6);
        assert_eq!(labels(&wide), ["0.03", "0.1", "0.3", "1", "3", "10"]);
        let widest = Axis::over(Scale::Logarithmic, [0.01, 200.0], 5);
        assert_eq!(labels(&widest), ["0.01", "0.1", "1", "10", "100"]);
        let narrow = Axis::over(Scale::Logarithmic, [0.97, 1.04], 6);
        assert_eq!(labels(&narrow), ["0.96", "0.98", "1", "1.02", "1.04", "1.06"]);
        assert_eq!(labels(&Axis::from_0([350.0], 5)), ["0", "100", "200", "300"]);
        assert_eq!(labels(&Axis::from_0([6e5], 4)), ["0", "200 k", "400 k", "600 k"]);
    }

    #[test]
    fn values_that_are_all_the_same_have_an_axis_too() {
        for scale in [Scale::Linear, Scale::Logarithmic] {
            let axis = Axis::over(scale, [5.0, 5.0], 5);
            assert!(axis.from < 5.0 && 5.0 < axis.to && !axis.labels.is_empty(), "{axis:?}");
            assert!(Axis::over(scale, [f64::NAN], 5).range().start.is_finite());
        }
    }

    #[test]
    fn equal_ratios_lie_equally_far_apart() {
        let axis = Axis::over(Scale::Logarithmic, [0.5, 2.0], 5);
        let x = |v: f64| axis.map(&v, (0, 1000));
        assert!((x(1.0) - x(0.5)).abs_diff(x(2.0) - x(1.0)) <= 1);
        assert_eq!(x(100.0), 1000, "what is outside is drawn at the edge");
    }

    #[test]
    fn names_run_from_the_top_down() {
        let axis = Axis::names(["first", "second"], true);
        assert!(axis.map(&0.0, (100, 0)) < axis.map(&1.0, (100, 0)));
        assert_eq!(axis.format_ext(&1.0), "second");
    }
}
