//! From a plan to a report.

use super::{Plan, run};
use crate::Step;
use crate::model::Report;
use crate::views::{Against, View};

impl Plan<'_> {
    /// Measures everything; the report has the raw values, and no results yet.
    ///
    /// # Errors
    /// As [`run`].
    pub fn measure(&self, progress: impl FnMut(&Step)) -> Result<Report, String> {
        Ok(Report::of(run(self, progress)?, self.terms.seed))
    }

    /// Adds results and comparisons to the report of this plan.
    pub fn show(&self, report: &mut Report, views: impl IntoIterator<Item = View>) {
        let arms: Vec<&str> = self.arms.iter().map(|arm| arm.name.as_str()).collect();
        let (baseline, apart) = (self.baseline, self.apart);
        let against = Against { arms: &arms, baseline, apart, threshold: self.terms.threshold };
        for view in views {
            view.add_to(report, against);
        }
    }
}
