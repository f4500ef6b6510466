//! How results were computed from observations: kept in a report, so that they can be recomputed.

use crate::driver::Seen;
use crate::model::{Report, Shown, View};
use crate::views::Against;

impl Shown {
    /// The record of a view that is added to a report with one suite's observations.
    pub(crate) fn of(view: &View, report: &Report, against: Against) -> Self {
        let of = report.observations.first().map_or(&view.suite, |o| &o.suite);
        Self {
            of: of.clone(),
            view: view.clone(),
            arms: against.arms.iter().map(|&arm| arm.into()).collect(),
            baseline: against.baseline.into(),
            apart: against.apart.map(Into::into),
            threshold: against.threshold,
        }
    }
}

impl View {
    /// Adds the view to a report that has the observations, with what is needed to recompute it.
    pub fn add_to(&self, report: &mut Report, against: Against) {
        report.views.push(Shown::of(self, report, against));
        self.show(report, against);
    }
}

impl Report {
    /// Recomputes all results and comparisons from the current observations.
    pub(crate) fn renew(&mut self) {
        (self.results, self.comparisons) = (Vec::new(), Vec::new());
        for shown in std::mem::take(&mut self.views) {
            let mut suite = self.suite(&shown.of);
            let arms: Vec<&str> = shown.arms.iter().map(String::as_str).collect();
            let against = Against {
                arms: &arms,
                baseline: &shown.baseline,
                apart: shown.apart.as_deref(),
                threshold: shown.threshold,
            };
            shown.view.add_to(&mut suite, against);
            self.results.extend(suite.results);
            self.comparisons.extend(suite.comparisons);
            self.views.push(shown);
        }
    }

    /// The observations and failures of one suite, without results: names are unique in a suite only.
    pub(crate) fn suite(&self, name: &str) -> Self {
        let observations = self.observations.iter().filter(|o| o.suite == name).cloned().collect();
        let failures = self.failures.iter().filter(|f| f.suite == name).cloned().collect();
        Self::of(Seen { observations, failures, ..Seen::default() }, self.provenance.seed)
    }
}

#[cfg(test)]
mod tests {
    use crate::model::Report;
    use crate::model::metric::{PEAK, TIME};
    use crate::views::{Against, View, tests};

    #[test]
    fn results_are_made_again_as_they_were() {
        let mut report = tests::report(&[
            ("a", "base", &TIME, 4.0),
            ("a", "fast", &TIME, 3.0),
            ("b", "base", &TIME, 4.0),
            ("b", "fast", &TIME, 1.0),
            ("a", "base", &PEAK, 3000.0),
            ("a", "fast", &PEAK, 2000.0),
        ]);
        let against =
            Against { arms: &["base", "fast"], baseline: "base", apart: None, threshold: 0.01 };
        View::new("heap", ["a", "b"], &TIME).add_to(&mut report, against);
        View::peaks("heap", ["a", "b"]).add_to(&mut report, against);
        let mut again = report.clone();
        // A row of the same name in another suite must not get in.
        let mut other = report.observations[0].clone();
        (other.suite, other.value) = ("frame".into(), 1e9);
        again.observations.push(other.clone());
        again.renew();
        report.observations.push(other);
        assert_eq!(again, report);
        assert_eq!(serde_json::from_str::<Report>(&report.to_json()).unwrap(), report);
    }
}
