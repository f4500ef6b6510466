//! Experiments that come with the laboratory: two that were published about Allod's ancestors.

use super::design::Design;
use super::factor::Factor;
use super::level::Level;
use crate::names;

/// An experiment that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Its name.
    pub name: &'static str,
    /// Its question.
    pub about: &'static str,
    /// What all points have in common.
    pub shared: &'static str,
    /// What is varied.
    pub design: Variants,
    /// The workloads of the heap suite.
    pub workloads: &'static [&'static str],
}

/// What a shipped experiment varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variants {
    /// Two variants: `allod ab`.
    Pair(&'static str, &'static str),
    /// Factors: `allod matrix`.
    Matrix(&'static [&'static str]),
}

/// All of them.
pub const SHIPPED: [Shipped; 2] = [
    Shipped {
        name: "front-caches",
        about: "the gains from the front caches of bands B4 and B5+B6, alone and together",
        shared: "features:allod-heap/knobs",
        design: Variants::Matrix(&[
            "B4=ALLOD_BAND_B4=0|ALLOD_BAND_B4=1",
            "B5+B6=ALLOD_BAND_B5=0 ALLOD_BAND_B6=0|ALLOD_BAND_B5=1 ALLOD_BAND_B6=1",
        ]),
        workloads: &["band-mix"],
    },
    Shipped {
        name: "counters",
        about: "the gain from compiling the counters out of the fast paths",
        shared: "",
        design: Variants::Pair("features:allod-heap/stats", "features:"),
        workloads: &["random-mixed"],
    },
];

impl Shipped {
    /// Finds an experiment among those of one command.
    ///
    /// # Errors
    /// Names the known ones, and the other command if it belongs to that.
    pub fn find(name: &str, pair: bool) -> Result<&'static Self, String> {
        let (own, others): (Vec<&Self>, Vec<&Self>) =
            SHIPPED.iter().partition(|s| matches!(s.design, Variants::Pair(..)) == pair);
        if others.iter().any(|s| s.name == name) {
            let command = if pair { "matrix" } else { "ab" };
            return Err(format!(
                "{name} belongs to another command: `allod {command} --shipped {name}`"
            ));
        }
        let known: Vec<&str> = own.iter().map(|s| s.name).collect();
        let found = own.into_iter().find(|s| s.name == name);
        found.ok_or_else(|| names::unknown("shipped experiment", name, &known))
    }

    /// Its design, with more that all points have in common.
    ///
    /// # Errors
    /// When the two conflict.
    pub fn design(&self, more: &Level) -> Result<Design, String> {
        let shared = Level::parse(self.shared)?.with(more);
        match self.design {
            Variants::Pair(a, b) => Design::pair(shared, Level::parse(a)?, Level::parse(b)?),
            Variants::Matrix(factors) => {
                let factors = factors.iter().map(|text| Factor::parse(text));
                Design::matrix(shared, factors.collect::<Result<_, _>>()?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::settings;
    use crate::heap::workloads;

    #[test]
    fn every_shipped_experiment_is_one() {
        for shipped in SHIPPED {
            let design = shipped.design(&Level::default()).unwrap();
            for point in 0..design.points.count() {
                settings::check(&design.level(point)).unwrap();
            }
            let names: Vec<String> = shipped.workloads.iter().map(|w| (*w).into()).collect();
            assert_eq!(workloads(&names).unwrap().len(), names.len());
            let pair = matches!(shipped.design, Variants::Pair(..));
            assert_eq!(Shipped::find(shipped.name, pair).unwrap(), &shipped);
        }
    }

    #[test]
    fn a_name_that_is_unknown_or_of_the_other_command_is_answered() {
        let why = |name, pair| Shipped::find(name, pair).unwrap_err();
        assert!(why("front-cache", false).contains("did you mean front-caches?"));
        assert_eq!(
            why("counters", false),
            "counters belongs to another command: `allod ab --shipped counters`"
        );
    }
}
