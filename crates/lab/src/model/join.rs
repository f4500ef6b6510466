//! Making one report from the shards of a run.

use super::{Part, Report, Shown};

impl Report {
    /// One report from the shards of one run: all observations, and results computed from all of them, so a
    /// geometric mean covers the workloads of all shards. Each comparison stays within the shard, and so
    /// within the machine, that measured its workload.
    ///
    /// # Errors
    /// When two of them measured the same workload, or they belong to different experiments.
    pub fn join(mut shards: Vec<Self>) -> Result<Self, String> {
        shards.sort_by_key(|report| report.provenance.shard);
        apart(&shards)?;
        let whole = |report: &Self| Part {
            machine: report.machine.clone(),
            provenance: report.provenance.clone(),
        };
        let parts: Vec<Part> = shards.iter().map(whole).collect();
        if !shards.windows(2).all(|two| of_one_design(&two[0], &two[1])) {
            return Err("the shares belong to different experiments".into());
        }
        let views = join_views(&shards);
        let mut all = shards.into_iter();
        let mut joined = all.next().ok_or("there are no shares to join")?;
        joined.provenance.shard = None;
        all.for_each(|shard| joined.absorb(shard));
        let mut arms = Vec::new();
        union(&mut arms, joined.provenance.arms);
        joined.provenance.arms = arms;
        (joined.parts, joined.views) = (parts, views);
        joined.renew();
        // Each share was compared with an earlier run separately.
        joined.gate = None;
        if let Some(experiment) = joined.experiment.take() {
            joined.experiment = Some(experiment.renewed(&joined));
        }
        Ok(joined)
    }
}

/// Refuses shards with a common workload: their observations could not be distinguished.
fn apart(shards: &[Report]) -> Result<(), String> {
    for (i, shard) in shards.iter().enumerate() {
        for other in &shards[..i] {
            let has = |o: &crate::model::Observation| {
                other.observations.iter().any(|p| p.suite == o.suite && p.workload == o.workload)
            };
            // One look per row is enough: its observations stand together.
            let mut seen = ("", "");
            for o in &shard.observations {
                if seen != (&o.suite, &o.workload) && has(o) {
                    return Err(format!("two shares measured {} of {}", o.workload, o.suite));
                }
                seen = (&o.suite, &o.workload);
            }
        }
    }
    Ok(())
}

/// Whether two shards vary the same factors, if any. The origins of points may differ: each machine has its
/// own builds.
fn of_one_design(one: &Report, other: &Report) -> bool {
    let design = |report: &Report| {
        let e = report.experiment.clone()?;
        Some((e.factors, e.shared, e.metric, e.points.into_iter().map(|p| (p.name, p.commit))))
    };
    let points =
        |report| design(report).map(|(f, s, m, points)| (f, s, m, points.collect::<Vec<_>>()));
    points(one) == points(other)
}

/// The views of all shards: those of one suite become one, with the rows in their original order.
fn join_views(shards: &[Report]) -> Vec<Shown> {
    let mut joined: Vec<Shown> = Vec::new();
    for shown in shards.iter().flat_map(|shard| &shard.views) {
        let is_same =
            |other: &Shown| (&other.of, &other.view.suite) == (&shown.of, &shown.view.suite);
        if joined.iter().any(is_same) {
            continue;
        }
        let of_all: Vec<&Shown> =
            shards.iter().filter_map(|shard| shard.views.iter().find(|s| is_same(s))).collect();
        let mut one = shown.clone();
        let longest = of_all.iter().map(|s| s.view.rows.len()).max().unwrap_or(0);
        one.view.rows.clear();
        for row in 0..longest {
            union(&mut one.view.rows, of_all.iter().filter_map(|s| s.view.rows.get(row)).cloned());
        }
        union(&mut one.arms, of_all.iter().flat_map(|s| s.arms.iter().cloned()));
        joined.push(one);
    }
    joined
}

/// Adds entries that are not there yet.
fn union<T: PartialEq>(all: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, SUITE};
    use crate::model::metric::TIME;
    use crate::shard::Shard;
    use crate::views::{Against, GEOMETRIC_MEAN, View, tests};

    const WORKLOADS: [&str; 5] = ["a", "b", "c", "d", "e"];
    const AGAINST: Against =
        Against { arms: &["base", "fast"], baseline: "base", apart: None, threshold: 0.01 };

    fn of(workloads: &[&str]) -> Report {
        let time = |w: &str, arm: &str| {
            if arm == "base" { 20.0 } else { 10.0 + f64::from(w.as_bytes()[0] - b'a') }
        };
        let metric = TIME;
        let rows: Vec<_> = workloads
            .iter()
            .flat_map(|&w| ["base", "fast"].map(|arm| (w, arm, &metric, time(w, arm))))
            .collect();
        let mut report = tests::report(&rows);
        View::new("heap", workloads.iter().copied(), &TIME).add_to(&mut report, AGAINST);
        report
    }

    fn shard(number: u32, shares: u32) -> Report {
        let shard = Shard { number, shares };
        let mut report = of(&shard.of(&WORKLOADS));
        report.provenance.shard = Some(shard);
        report
    }

    #[test]
    fn shards_make_the_run_that_was_shared_out() {
        let joined = Report::join(vec![shard(2, 3), shard(3, 3), shard(1, 3)]).unwrap();
        let whole = of(&WORKLOADS);
        let ratio = |r: &Report, row| r.comparison("heap", row, "fast").unwrap().ratio;
        assert_eq!(ratio(&joined, GEOMETRIC_MEAN), ratio(&whole, GEOMETRIC_MEAN));
        assert_eq!((joined.results, joined.comparisons), (whole.results, whole.comparisons));
        let numbers = joined.parts.iter().map(|part| part.provenance.shard.unwrap().number);
        assert_eq!(numbers.collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(joined.provenance.shard, None);
    }

    /// A shard of an experiment of two points; the second is 2, 3, 4, ... times as fast as the first.
    fn shard_of_matrix(number: u32) -> Report {
        let mut report = shard(number, 2);
        for o in &mut report.observations {
            o.suite = SUITE.into();
            let speed = 2.0 + f64::from(o.workload.as_bytes()[0] - b'a');
            o.value = if o.arm == "base" { 60.0 } else { 60.0 / speed };
        }
        report.views.clear();
        let workloads = Shard { number, shares: 2 }.of(&WORKLOADS);
        View::new(SUITE, workloads, &TIME).add_to(&mut report, AGAINST);
        let text = r#"{"factors": [{"name": "fast", "off": "", "on": "X=1"}], "shared": "",
            "metric": "time", "unit": "ns/op", "threshold": 0.01, "matrices": [],
            "points": [{"name": "base", "on": [], "origin": ""}, {"name": "fast", "on": [], "origin": ""}]}"#;
        let experiment: Experiment = serde_json::from_str(text).unwrap();
        report.experiment = Some(experiment.renewed(&report));
        report
    }

    #[test]
    fn a_matrix_that_was_measured_in_shards_is_one() {
        let joined = Report::join(vec![shard_of_matrix(2), shard_of_matrix(1)]).unwrap();
        let matrices = &joined.experiment.as_ref().unwrap().matrices;
        let names: Vec<&str> = matrices.iter().map(|m| m.workload.as_str()).collect();
        assert_eq!(names, ["a", "b", "c", "d", "e", GEOMETRIC_MEAN]);
        let mean = matrices[5].effects[0].ratio.ratio;
        assert!((mean - 720f64.powf(0.2)).abs() < 1e-9, "of 2, 3, 4, 5 and 6: {mean}");
        let mut other = shard_of_matrix(2);
        other.experiment.as_mut().unwrap().factors[0].on = "X=2".into();
        let why = Report::join(vec![shard_of_matrix(1), other]).unwrap_err();
        assert_eq!(why, "the shares belong to different experiments");
        let why = Report::join(vec![shard_of_matrix(1), shard(2, 2)]).unwrap_err();
        assert_eq!(why, "the shares belong to different experiments");
    }

    #[test]
    fn a_workload_of_two_shards_is_refused() {
        let mut twice = shard(2, 2);
        twice.observations.extend(shard(1, 2).observations);
        let why = Report::join(vec![shard(1, 2), twice]).unwrap_err();
        assert_eq!(why, "two shares measured a of heap");
    }
}
