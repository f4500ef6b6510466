//! What is done.

use super::{Arm, Metric};

/// The work that every arm does.
pub struct Workload<'a> {
    /// Its name.
    pub name: String,
    /// Whether its process stays on one processor: not if it uses several threads.
    pub pinned: bool,
    /// The names of the arms that can do it; if empty, all of them.
    pub arms: Vec<String>,
    /// The most rounds of it, if one takes long.
    pub most_rounds: Option<usize>,
    /// What happens when an arm's turn has come.
    pub work: Box<dyn Work + 'a>,
}

/// What an arm does in its turn: usually, a process is started.
pub trait Work {
    /// Runs the workload once on an arm.
    ///
    /// # Errors
    /// When the laboratory itself is broken, for example a part of it is missing: the measurement ends. An
    /// error of the arm is an [`Outcome::failure`].
    fn run(&self, arm: &Arm, turn: &Turn) -> Result<Outcome, String>;
}

/// One arm's turn in one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The round; 0 is the warm-up.
    pub round: usize,
    /// The place within the round, from 0.
    pub position: usize,
    /// Bytes of padding in the environment.
    pub padding: usize,
    /// The processor to stay on.
    pub processor: Option<usize>,
    /// Whether instructions are counted and times mean nothing.
    pub counting: bool,
}

impl Turn {
    /// Whether this round is the warm-up, which brings programs and libraries into memory.
    pub fn warm_up(&self) -> bool {
        self.round == 0
    }
}

/// The result of one turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The metrics and their values.
    pub values: Vec<(Metric, f64)>,
    /// What the calibration loop took before and after, in nanoseconds; empty where there is none.
    pub loops_ns: Vec<f64>,
    /// A checksum of what the arm computed: all arms of a workload must agree.
    pub checksum: Option<u64>,
    /// Why there is no result: the arm crashed, hung, or computed something else.
    pub failure: Option<String>,
    /// Whether it was interrupted because the measurement is being stopped.
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
