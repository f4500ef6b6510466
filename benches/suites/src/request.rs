//! What is asked of a suite.

use allod_lab::driver::Rule;
use allod_lab::inprocess::Bench;
use allod_lab::names;

/// What to measure, and against what.
#[derive(Clone, Debug)]
pub struct Request {
    /// The workloads and subjects, all for none.
    pub only: Vec<String>,
    /// The subject the others are compared with.
    pub baseline: String,
    /// When a workload has been measured often enough.
    pub rule: Rule,
    /// What the order of the subjects is drawn from.
    pub seed: u64,
    /// The arguments with which this program comes to the suite when it is started again.
    pub started_with: Vec<&'static str>,
    /// Less work: frames take shorter samples, regions leave out what needs seconds per call.
    pub quick: bool,
    /// The smallest difference that counts, 0.01 for ±1 %.
    pub threshold: f64,
    /// Whether instructions are counted instead of time.
    pub counting: bool,
}

impl Request {
    /// A suite as it was asked for.
    pub(crate) fn apply(&self, suite: Bench<'static>) -> Result<Bench<'static>, String> {
        let subjects = suite.subjects();
        let known: Vec<&str> = subjects.iter().map(String::as_str).collect();
        names::all_known("subject", std::slice::from_ref(&self.baseline), &known)?;
        Ok(suite
            .baseline(&self.baseline)
            .only(&self.only)?
            .rule(self.rule)
            .seed(self.seed)
            .started_with(&self.started_with)
            .threshold(self.threshold)
            .counting(self.counting))
    }
}
