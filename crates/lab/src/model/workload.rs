//! What is done.

use super::{Arm, Metric};

/// What every arm is asked to do.
pub struct Workload<'a> {
    /// Its name.
    pub name: String,
    /// Whether its process stays on one processor: not where it uses several threads.
    pub pinned: bool,
    /// The names of the arms that can do it; all of them when this is empty.
    pub arms: Vec<String>,
    /// The most rounds of it, where one is long.
    pub most_rounds: Option<usize>,
    /// What happens when an arm's turn has come.
    pub work: Box<dyn Work + 'a>,
}

/// What happens when an arm's turn has come: usually a process is started.
pub trait Work {
    /// Runs the workload once on an arm.
    ///
    /// # Errors
    /// When the laboratory itself is broken, as when a part of it is missing: the measurement ends. What the
    /// arm does wrong is [`Outcome::failure`].
    fn run(&self, arm: &Arm, turn: &Turn) -> Result<Outcome, String>;
}

/// One arm's turn in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The round; 0 is the warm-up.
    pub round: usize,
    /// The place within the round, from 0.
    pub position: usize,
    /// Bytes by which the environment is to be longer.
    pub padding: usize,
    /// The processor to stay on.
    pub processor: Option<usize>,
    /// Whether instructions are counted and times mean nothing.
    pub counting: bool,
}

impl Turn {
    /// Whether this round only brings programs and libraries into memory.
    pub fn warm_up(&self) -> bool {
        self.round == 0
    }
}

/// What one turn brought.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The metrics and their values.
    pub values: Vec<(Metric, f64)>,
    /// What the calibration loop took before and after, in nanoseconds; empty where there is none.
    pub loops_ns: Vec<f64>,
    /// A number made of what the arm computed: all arms of a workload must agree.
    pub checksum: Option<u64>,
    /// Why there is nothing to compare: the arm crashed, hung, or computed something else.
    pub failure: Option<String>,
    /// Whether it was cut short because the measurement is to stop.
    pub stopped: bool,
    /// Why there are no hardware counters among the values, as an `errno`.
    pub counters_errno: Option<i32>,
}

impl Outcome {
    /// The outcome of an arm that failed.
    pub fn failed(why: impl Into<String>) -> Self {
        Self { failure: Some(why.into()), ..Self::default() }
    }
}
