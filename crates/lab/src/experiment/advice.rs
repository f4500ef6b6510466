//! What to do after an experiment, and why.
//!
//! A factor that is on has to pay, since it means more code, more settings, or a change. So the advice
//! starts at the fastest of the points that are certainly faster than `none`, and removes factors that
//! are not shown to pay there, one by one, as long as the rest is still certainly faster.

use super::effects::Measurement;
use super::point::Points;
use super::result::Advice;
use super::surface::Surface;
use crate::stats::{FEWEST, Ratio, Verdict};

/// The advice of one measurement.
pub fn advise(points: &Points, measured: &Measurement, threshold: f64) -> Advice {
    let adviser = Adviser { points, measured, threshold };
    if !measured.decides() {
        let reasons = vec![format!("too few rounds ({}): it needs {FEWEST}", measured.rounds())];
        return Advice { reasons, ..Advice::default() };
    }
    let (choose, reasons) = adviser.choice();
    let choose = choose.map(|point| points.names[point].clone());
    Advice { choose, reasons, warnings: adviser.warnings() }
}

struct Adviser<'a> {
    points: &'a Points,
    measured: &'a Measurement,
    threshold: f64,
}

impl Adviser<'_> {
    fn ratio(&self, question: impl Fn(&Surface) -> f64) -> Ratio {
        self.measured.ratio(self.threshold, question)
    }

    fn gain(&self, point: usize) -> Ratio {
        self.ratio(|s| s.gain(point))
    }

    /// The point to choose, and why.
    fn choice(&self) -> (Option<usize>, Vec<String>) {
        let all: Vec<(usize, Ratio)> =
            (1..self.points.count()).map(|point| (point, self.gain(point))).collect();
        let faster = all.iter().filter(|(_, gain)| gain.verdict == Verdict::Go);
        let Some(&(fastest, gain)) = faster.max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio)) else {
            return self.nothing_gains(&all);
        };
        let name = |point: usize| self.points.names[point].as_str();
        let among = if all.len() > 1 { ", the most of all that are certainly better" } else { "" };
        let mut reasons =
            vec![format!("{} is {} against {}{among}", name(fastest), percent(&gain), name(0))];
        let mut point = fastest;
        while let Some((factor, step)) = self.idle_factor(point) {
            point &= !(1 << factor);
            reasons.push(format!(
                "{} brings {} there, which is {}; without it {} is left, {}",
                self.points.factors[factor],
                percent(&step),
                in_words(step.verdict),
                name(point),
                percent(&self.gain(point)),
            ));
        }
        for factor in self.on(point).filter(|_| point.count_ones() > 1) {
            let step = self.ratio(|s| s.step(point, factor));
            let pays = if step.verdict == Verdict::Go { "pays" } else { "is not shown to pay" };
            let name = &self.points.factors[factor];
            reasons.push(format!("{name} {pays} beside the others: {}", percent(&step)));
        }
        (Some(point), reasons)
    }

    fn on(&self, point: usize) -> impl Iterator<Item = usize> + use<> {
        (0..self.points.factors.len()).filter(move |factor| point >> factor & 1 == 1)
    }

    /// The least useful factor at a point: it is not shown to pay there, and the rest is certainly
    /// faster than `none` without it.
    fn idle_factor(&self, point: usize) -> Option<(usize, Ratio)> {
        let steps = self.on(point).map(|factor| (factor, self.ratio(|s| s.step(point, factor))));
        let left = |factor: usize| self.gain(point & !(1 << factor)).verdict;
        steps
            .filter(|(factor, step)| step.verdict != Verdict::Go && left(*factor) == Verdict::Go)
            .min_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio))
    }

    fn nothing_gains(&self, all: &[(usize, Ratio)]) -> (Option<usize>, Vec<String>) {
        let none = &self.points.names[0];
        let open: Vec<String> = all
            .iter()
            .filter(|(_, gain)| gain.verdict == Verdict::Undecided)
            .map(|(point, gain)| format!("{} {}", self.points.names[*point], percent(gain)))
            .collect();
        if open.is_empty() {
            let best = all.iter().max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio));
            let words = |(point, gain): &(usize, Ratio)| {
                let verdict = in_words(gain.verdict);
                format!(
                    "{} is {} against {none}, {verdict}",
                    self.points.names[*point],
                    percent(gain)
                )
            };
            let among = if all.len() > 1 { "; all others are worse" } else { "" };
            return (Some(0), best.map(words).map(|words| words + among).into_iter().collect());
        }
        let reason = format!(
            "no point is certainly better than {none}, and not decided is: {}; more rounds may decide it",
            open.join(", ")
        );
        (None, vec![reason])
    }

    /// Pairs in which the sign of one factor's effect depends on the level of the other.
    fn warnings(&self) -> Vec<String> {
        let factors = 0..self.points.factors.len();
        let pairs = factors.clone().flat_map(|f| factors.clone().map(move |g| (f, g)));
        pairs.filter(|(f, g)| f != g).filter_map(|(f, g)| self.warning(f, g)).collect()
    }

    fn warning(&self, factor: usize, other: usize) -> Option<String> {
        let without = self.ratio(|s| s.given(factor, other, false));
        let with = self.ratio(|s| s.given(factor, other, true));
        if (without.ratio > 1.0) == (with.ratio > 1.0) {
            return None;
        }
        let interaction = self.ratio(|s| s.effect(1 << factor | 1 << other));
        let excludes_1 = |r: &Ratio| r.ci95[0] > 1.0 || r.ci95[1] < 1.0;
        if !excludes_1(&interaction) {
            return None;
        }
        let certain = excludes_1(&without) && excludes_1(&with);
        let (depends, doubt) = match certain {
            true => ("depends on", ""),
            false => ("may depend on", "; that they differ is certain, both signs are not"),
        };
        let (factor, other) = (&self.points.factors[factor], &self.points.factors[other]);
        Some(format!(
            "the sign of {factor} {depends} {other}: {} with it, {} without{doubt}",
            percent(&with),
            percent(&without)
        ))
    }
}

/// A ratio as a gain in percent, with its interval if it has one.
fn percent(ratio: &Ratio) -> String {
    if ratio.ci95[0] == ratio.ci95[1] {
        return format!("{} %", gain(ratio.ratio));
    }
    let [low, high] = ratio.ci95.map(gain);
    format!("{} % ({low} to {high})", gain(ratio.ratio))
}

/// A ratio as a signed number of percent.
pub(super) fn gain(ratio: f64) -> String {
    signed(100.0 * (ratio - 1.0))
}

/// A number with its sign and two digits; what is rounded to 0 has no sign.
pub(super) fn signed(number: f64) -> String {
    let text = format!("{number:+.2}");
    if text[1..].bytes().all(|b| matches!(b, b'0' | b'.')) {
        "0.00".into()
    } else {
        text.replace('-', "−")
    }
}

fn in_words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Go => "a gain",
        Verdict::NoGo => "a loss",
        Verdict::Equivalent => "no difference that matters",
        Verdict::Undecided => "not decided",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::effects::Rounds;

    /// Eight rounds of costs that differ by a few parts in a thousand, in a known way.
    fn measured(costs: &[f64]) -> Measurement {
        let round = |r: usize| {
            let wobble = |point: usize| 1.0 + 0.001 * ((r * 5 + point * 3) % 7) as f64;
            costs.iter().enumerate().map(|(point, cost)| cost * wobble(point)).collect()
        };
        Measurement::of(&[Rounds::of(&(0..8).map(round).collect::<Vec<_>>())], false)
    }

    fn advice(factors: &[&str], costs: &[f64]) -> Advice {
        advise(&Points::of(factors), &measured(costs), 0.01)
    }

    #[test]
    fn the_fastest_point_is_chosen_where_every_factor_pays() {
        let advice = advice(&["x", "y"], &[100.0, 95.0, 92.0, 85.0]);
        assert_eq!(advice.choose.as_deref(), Some("x,y"));
        assert!(advice.reasons[1].starts_with("x pays beside the others: +8"), "{advice:?}");
        assert_eq!(advice.warnings, [""; 0]);
    }

    #[test]
    fn a_factor_that_does_not_pay_beside_the_others_is_left_out() {
        let advice = advice(&["x", "y"], &[100.0, 99.8, 92.0, 91.6]);
        assert_eq!(advice.choose.as_deref(), Some("y"));
        assert!(advice.reasons[1].contains("no difference that matters"), "{advice:?}");
    }

    #[test]
    fn factors_that_only_help_together_are_kept_together() {
        let advice = advice(&["x", "y"], &[100.0, 100.0, 100.0, 90.0]);
        assert_eq!(advice.choose.as_deref(), Some("x,y"));
    }

    /// Neither factor is shown to pay alone or beside the other; both together gain.
    #[test]
    fn what_is_left_is_certainly_faster() {
        let round = |r: usize| {
            let (x, y) = ([0.93, 1.02, 0.95, 1.01][r % 4], [1.01, 0.94, 1.02, 0.93][r % 4]);
            vec![100.0, 100.0 * x, 100.0 * y, 95.0]
        };
        let rounds = Rounds::of(&(0..8).map(round).collect::<Vec<_>>());
        let measured = Measurement::of(&[rounds], false);
        let advice = advise(&Points::of(&["x", "y"]), &measured, 0.01);
        assert_eq!(advice.choose.as_deref(), Some("x,y"), "{advice:?}");
        assert!(
            advice.reasons[1].starts_with("x is not shown to pay beside the others"),
            "{advice:?}"
        );
    }

    #[test]
    fn nothing_is_chosen_where_nothing_gains() {
        let advice = advice(&["x", "y"], &[100.0, 105.0, 100.2, 106.0]);
        assert_eq!(advice.choose.as_deref(), Some("none"));
        assert!(advice.reasons[0].starts_with("y is "), "{advice:?}");
        assert!(advice.reasons[0].ends_with("no difference that matters; all others are worse"));
    }

    #[test]
    fn what_is_not_known_is_not_advised() {
        let swings = |r: usize| vec![100.0, if r.is_multiple_of(2) { 70.0 } else { 130.0 }];
        let rounds = Rounds::of(&(0..8).map(swings).collect::<Vec<_>>());
        let advice = advise(&Points::pair("a", "b"), &Measurement::of(&[rounds], false), 0.01);
        assert_eq!(advice.choose, None);
        assert!(advice.reasons[0].contains("more rounds may decide it"), "{advice:?}");
        let few = Rounds::of(&[vec![1.0, 2.0]]);
        let advice = advise(&Points::pair("a", "b"), &Measurement::of(&[few], false), 0.01);
        assert!(advice.reasons[0].contains("too few rounds (1)"), "{advice:?}");
    }

    #[test]
    fn a_sign_that_depends_on_another_factor_is_warned_of() {
        // x gains 10 % alone and loses 10 % beside y; y gains in both cases.
        let advice = advice(&["x", "y"], &[100.0, 90.0, 70.0, 77.0]);
        assert_eq!(advice.choose.as_deref(), Some("y"));
        let [warning] = &advice.warnings[..] else { panic!("{advice:?}") };
        assert!(warning.starts_with("the sign of x depends on y: −8"), "{warning}");
        assert!(warning.contains("with it, +1"), "{warning}");
    }

    #[test]
    fn numbers_have_a_sign_unless_they_are_0() {
        assert_eq!(["+1.25", "−0.08", "0.00"], [1.254, -0.08, -0.001].map(signed));
    }
}
