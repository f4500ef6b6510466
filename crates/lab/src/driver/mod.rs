//! The driver: every measurement of the laboratory is a call of [`run`].
//!
//! For each workload a warm-up round brings programs and libraries into memory; then rounds are run
//! until the [`Rule`] has enough. Raw values are kept as [`Observation`]s; ratios and verdicts are
//! computed from them afterwards, by [`views`](crate::views).
//!
//! ```
//! use allod_lab::driver::{run, Plan, Rule, Terms};
//! use allod_lab::model::{metric, values, Arm, Outcome, Turn, Work, Workload};
//!
//! /// Pretends to take as long as the arm's name.
//! struct Length;
//! impl Work for Length {
//!     fn run(&self, arm: &Arm, _: &Turn) -> Result<Outcome, String> {
//!         let ns = arm.name.len() as f64;
//!         Ok(Outcome { values: vec![(metric::TIME, ns)], ..Outcome::default() })
//!     }
//! }
//! let plan = Plan {
//!     suite: "names",
//!     workloads: &[Workload {
//!         name: "length".into(),
//!         pinned: true,
//!         arms: vec![],
//!         most_rounds: None,
//!         work: Box::new(Length),
//!     }],
//!     arms: &[Arm::new("long name"), Arm::new("short")],
//!     baseline: "long name",
//!     apart: None,
//!     watched: metric::TIME,
//!     terms: Terms::of(Rule::rounds(6)),
//! };
//! let seen = run(&plan, |_| {})?;
//! assert_eq!(values(&seen.observations, "length", "short", &metric::TIME), [5.0; 6]);
//! # Ok::<(), String>(())
//! ```

mod noise;
mod order;
mod results;
mod rule;
mod terms;
#[cfg(test)]
mod tests;

pub use noise::Noise;
pub use order::{Order, fresh_seed};
pub use rule::Rule;
pub use terms::Terms;

use crate::Step;
use crate::model::{
    Arm, ArmRecord, Failure, Metric, Observation, Outcome, Turn, Workload, metric, pairs,
};
use crate::process::{interrupt, quiet_processor};
use crate::stats;
use noise::Judgement;
use std::time::{Duration, Instant};

/// What to measure.
pub struct Plan<'a> {
    /// The group to which the workloads belong.
    pub suite: &'a str,
    /// The workloads, measured one after the other.
    pub workloads: &'a [Workload<'a>],
    /// The arms, interleaved within each workload.
    pub arms: &'a [Arm],
    /// The arm that the others are compared with; where it cannot do a workload, its first arm.
    pub baseline: &'a str,
    /// An arm without ratios, such as one that only shows the cost of the workload itself.
    pub apart: Option<&'a str>,
    /// The metric whose ratios the rule watches.
    pub watched: Metric,
    /// How often, in which order, and by which clock.
    pub terms: Terms,
}

/// The raw results.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Every value of every turn, in the order of time.
    pub observations: Vec<Observation>,
    /// What each arm was.
    pub arms: Vec<ArmRecord>,
    /// The arms that failed, each once per workload.
    pub failures: Vec<Failure>,
    /// The disturbances of all workloads.
    pub noise: Noise,
    /// Whether it was stopped before the rule had enough.
    pub stopped: bool,
    /// Why there are no hardware counters, as an `errno`.
    pub counters_errno: Option<i32>,
}

/// Measures everything; `progress` is called before each turn.
///
/// # Errors
/// When the laboratory itself is broken. An arm's errors are among the failures.
pub fn run(plan: &Plan, mut progress: impl FnMut(&Step)) -> Result<Seen, String> {
    let begun = Instant::now();
    let mut driver = Driver {
        plan,
        seen: Seen { arms: plan.arms.iter().map(ArmRecord::of).collect(), ..Seen::default() },
        processor: quiet_processor(),
        progress: &mut progress,
        done: 0,
        total: plan.workloads.iter().map(|w| turns(plan, w)).sum(),
    };
    for (i, workload) in plan.workloads.iter().enumerate() {
        // The remaining time is divided evenly among the remaining workloads.
        let share =
            plan.terms.rule.max_time.map(|most| {
                most.saturating_sub(begun.elapsed()) / (plan.workloads.len() - i) as u32
            });
        driver.measure(workload, share)?;
        if driver.seen.stopped {
            break;
        }
    }
    Ok(driver.seen)
}

/// The turns of a workload, as far as known beforehand.
fn turns(plan: &Plan, workload: &Workload) -> usize {
    let rule = rule_for(plan, workload);
    let rounds = if rule.precision.is_some() { rule.least } else { rule.most };
    (rounds + usize::from(!plan.terms.counting)) * arms_for(plan, workload).len()
}

fn rule_for(plan: &Plan, workload: &Workload) -> Rule {
    let rule = plan.terms.rule;
    if plan.terms.counting {
        return Rule { max_time: rule.max_time, ..Rule::rounds(1) };
    }
    workload.most_rounds.map_or(rule, |most| rule.at_most(most))
}

fn arms_for<'a>(plan: &Plan<'a>, workload: &Workload) -> Vec<&'a Arm> {
    let can = |arm: &&Arm| workload.arms.is_empty() || workload.arms.contains(&arm.name);
    plan.arms.iter().filter(can).collect()
}

struct Driver<'a> {
    plan: &'a Plan<'a>,
    seen: Seen,
    processor: Option<usize>,
    progress: &'a mut dyn FnMut(&Step),
    done: usize,
    total: usize,
}

impl Driver<'_> {
    fn measure(&mut self, workload: &Workload, time: Option<Duration>) -> Result<(), String> {
        let begun = Instant::now();
        let rule = rule_for(self.plan, workload);
        let arms = arms_for(self.plan, workload);
        let mut order = Order::new(self.plan.terms.seed, arms.len());
        let (mut noise, mut counted) = (Noise::default(), 0);
        let mut checksum = None;
        // Counting needs no warm-up.
        for round in usize::from(self.plan.terms.counting).. {
            let start = self.seen.observations.len();
            let outcomes = self.round(workload, &arms, &mut order, round)?;
            if self.seen.stopped {
                break;
            }
            self.check(workload, &arms, &outcomes, &mut checksum);
            let loops: Vec<f64> =
                outcomes.iter().flat_map(|(_, o)| o.loops_ns.iter().copied()).collect();
            let judgement = noise.judge(&loops, counted);
            let counts = round > 0 && judgement != Judgement::Repeat;
            for o in &mut self.seen.observations[start..] {
                o.counts = counts;
                o.disturbed = judgement != Judgement::Fair;
            }
            counted += usize::from(counts);
            let per_round = begun.elapsed() / (round as u32 + 1);
            let late = time.is_some_and(|time| begun.elapsed() + per_round > time);
            let width = self.width(workload, &arms);
            let all_failed = arms.iter().all(|arm| self.has_failed(workload, arm));
            if all_failed || rule.enough(counted, width) || late && counted > 0 {
                break;
            }
        }
        self.seen.noise.disturbed += noise.disturbed;
        self.seen.noise.repeated += noise.repeated;
        Ok(())
    }

    /// One turn of each arm that has not failed yet.
    fn round<'a>(
        &mut self,
        workload: &Workload,
        arms: &[&'a Arm],
        order: &mut Order,
        round: usize,
    ) -> Result<Vec<(&'a Arm, Outcome)>, String> {
        let mut outcomes = Vec::with_capacity(arms.len());
        for (position, i) in order.draw().to_vec().into_iter().enumerate() {
            let arm = arms[i];
            let padding = order.draw_padding();
            self.announce(workload, arm);
            if self.has_failed(workload, arm) {
                continue;
            }
            let processor = self.processor.filter(|_| workload.pinned);
            let counting = self.plan.terms.counting;
            let padding = if counting { 0 } else { padding };
            let turn = Turn { round, position, padding, processor, counting };
            let mut outcome = workload.work.run(arm, &turn)?;
            self.seen.counters_errno = self.seen.counters_errno.or(outcome.counters_errno);
            if counting {
                outcome.loops_ns.clear();
            }
            if outcome.stopped || interrupt::requested() {
                self.seen.stopped = true;
                break;
            }
            match &outcome.failure {
                Some(why) => self.fail(workload, arm, why.clone()),
                None => self.observe(workload, arm, &turn, &outcome),
            }
            outcomes.push((arm, outcome));
        }
        Ok(outcomes)
    }

    fn announce(&mut self, workload: &Workload, arm: &Arm) {
        // A rule that waits for precision may want more rounds than expected.
        self.total = self.total.max(self.done + 1);
        let (done, total) = (self.done, self.total);
        (self.progress)(&Step { done, total, workload: &workload.name, subject: &arm.name });
        self.done += 1;
    }

    fn observe(&mut self, workload: &Workload, arm: &Arm, turn: &Turn, outcome: &Outcome) {
        let slowest_loop = outcome.loops_ns.iter().copied().reduce(f64::max);
        let loops = slowest_loop.map(|ns| (metric::LOOP, ns));
        for (metric, value) in outcome.values.iter().cloned().chain(loops) {
            self.seen.observations.push(Observation {
                round: turn.round,
                position: turn.position,
                suite: self.plan.suite.into(),
                workload: workload.name.clone(),
                arm: arm.name.clone(),
                metric,
                value,
                counts: false,
                disturbed: false,
            });
        }
    }

    /// All arms must compute the same result as the first one in the warm-up.
    fn check(
        &mut self,
        workload: &Workload,
        arms: &[&Arm],
        outcomes: &[(&Arm, Outcome)],
        expected: &mut Option<(String, u64)>,
    ) {
        let checksum = |arm: &Arm| {
            let outcome = outcomes.iter().find(|(a, _)| a.name == arm.name);
            Some((arm.name.clone(), outcome?.1.checksum?))
        };
        let sums: Vec<_> = arms.iter().filter_map(|arm| Some((*arm, checksum(arm)?.1))).collect();
        if expected.is_none() {
            *expected = arms.iter().find_map(|arm| checksum(arm));
        }
        let Some((first, expected)) = expected else { return };
        for (arm, sum) in sums {
            if sum != *expected {
                let why = format!("its checksum differs from that of {first}");
                self.fail(workload, arm, why);
            }
        }
    }

    fn fail(&mut self, workload: &Workload, arm: &Arm, reason: String) {
        self.seen.failures.push(Failure {
            suite: self.plan.suite.into(),
            workload: workload.name.clone(),
            subject: arm.name.clone(),
            reason,
        });
    }

    fn has_failed(&self, workload: &Workload, arm: &Arm) -> bool {
        let failures = self.seen.failures.iter();
        failures.rev().any(|f| f.workload == workload.name && f.subject == arm.name)
    }

    /// The width of the widest interval of a ratio.
    fn width(&self, workload: &Workload, arms: &[&Arm]) -> f64 {
        let Plan { baseline, apart, watched, terms, .. } = self.plan;
        if terms.rule.precision.is_none() {
            return f64::INFINITY;
        }
        let has = |name: &str| arms.iter().any(|arm| arm.name == name);
        let baseline = if has(baseline) { baseline } else { arms[0].name.as_str() };
        let compared = arms.iter().filter(|arm| {
            let name = arm.name.as_str();
            name != baseline && Some(name) != *apart && !self.has_failed(workload, arm)
        });
        compared
            .map(|arm| {
                let names = [baseline, arm.name.as_str()];
                let (base, own) = pairs(&self.seen.observations, &workload.name, names, watched);
                stats::compare(&base, &own, 0.0).precision()
            })
            .fold(0.0, f64::max)
    }
}
