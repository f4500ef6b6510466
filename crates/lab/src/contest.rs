//! Allocators against each other: what the heap's suite, replays and `allod compare` have in common.

use crate::Step;
use crate::driver::{Plan, Terms};
use crate::heap::{NULL, null_arm};
use crate::model::{Arm, Report, Workload, metric};
use crate::subject::Subject;
use crate::suite_table::SuiteTable;
use crate::views::View;

/// Who takes part, and on what terms.
#[derive(Clone, Copy, Debug)]
pub struct Contest<'a> {
    /// The allocators, the baseline among them.
    pub subjects: &'a [Subject],
    /// The name of the subject that the others are compared with.
    pub baseline: &'a str,
    /// How to measure.
    pub terms: Terms,
}

impl<'a> Contest<'a> {
    /// An arm for each allocator.
    pub(crate) fn arms(&self) -> Vec<Arm> {
        self.subjects.iter().map(Subject::arm).collect()
    }

    /// Runs every workload on every allocator and on the null subject, interleaved within each workload.
    ///
    /// # Errors
    /// When a part of the laboratory is missing; an allocator's failure is recorded instead.
    pub(crate) fn run(
        &self,
        suite: &str,
        workloads: &[Workload],
        views: impl IntoIterator<Item = View>,
        progress: impl FnMut(&Step),
    ) -> Result<Report, String> {
        let mut arms = self.arms();
        arms.push(null_arm()?);
        let plan = Plan {
            suite,
            workloads,
            arms: &arms,
            baseline: self.baseline,
            apart: Some(NULL),
            watched: metric::TIME,
            terms: self.terms,
        };
        let mut report = plan.measure(progress)?;
        plan.show(&mut report, views);
        Ok(report)
    }

    /// The suite's tables, with the null subject in its own column.
    pub(crate) fn table<'r>(
        &self,
        report: &'r Report,
        suite: &'r str,
        workloads: Vec<&'r str>,
    ) -> SuiteTable<'r>
    where
        'a: 'r,
    {
        SuiteTable {
            report,
            suite,
            workloads,
            subjects: self.subjects.iter().map(|s| s.name.as_str()).collect(),
            baseline: self.baseline,
            floor: Some(NULL),
        }
    }
}
