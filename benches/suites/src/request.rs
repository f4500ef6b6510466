//! What is asked of a suite.

use allod_lab::driver::Terms;
use allod_lab::inprocess::Bench;
use allod_lab::names;

/// What to measure, and against what.
#[derive(Clone, Debug)]
pub struct Request {
    /// The workloads and subjects, all for none.
    pub only: Vec<String>,
    /// The subject the others are compared with.
    pub baseline: String,
    /// What is asked of the measurement.
    pub terms: Terms,
    /// The arguments with which this program comes to the suite when it is started again.
    pub started_with: Vec<&'static str>,
    /// Less work: frames take shorter samples, regions leave out what needs seconds per call.
    pub quick: bool,
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
            .terms(self.terms)
            .started_with(&self.started_with))
    }
}
