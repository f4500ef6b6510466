//! The Scheme suite: `allod bench scheme`.
//!
//! A workload is a classic program, an arm is a compiler: this one with its strategies and C compilers, and other
//! systems' where they are installed. Each program is compiled before its first run; what counts is the time it takes by
//! its own clock, so that nobody's start-up does, and its whole process's peak memory. What it prints must be
//! the result that the table of programs has.

mod arms;
mod codegen;
mod scratch;
mod systems;
mod tables;
mod work;

pub use arms::{Found, arms};
pub use tables::tables;

use allod_lab::Step;
use allod_lab::driver::{self, Plan, Terms};
use allod_lab::model::{Arm, Report, Workload, metric};
use allod_lab::names;
use allod_lab::views::{Against, Ratios, View};
use allod_scheme::classics::{CLASSICS, Classic, Group, OBJECTS};
use scratch::Scratch;
use std::time::Duration;

/// The suite's name in reports.
pub const SUITE: &str = "scheme";
/// The suite of counted instructions, which compilation has no part in.
pub const INSTRUCTIONS: &str = "scheme-instructions";
/// The suite of longest pauses.
pub const PAUSES: &str = "scheme-pauses";
/// Programs that take longer are given up.
const LIMIT: Duration = Duration::from_secs(120);

/// What to measure.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The compilers.
    pub arms: &'a [Arm],
    /// The name of the one that the others are compared with.
    pub baseline: &'a str,
    /// The programs.
    pub programs: &'a [&'static Classic],
    /// How often, in which order, and by which clock.
    pub terms: Terms,
    /// The size for a first look.
    pub quick: bool,
    /// Whether longest pauses are measured, too.
    pub pauses: bool,
}

/// The suite that a group's mean stands in, or the rows of the group that stands apart.
pub fn group_suite(group: Group) -> String {
    format!("{SUITE}-{}", group.name())
}

/// A line for each program: its name and what it does.
pub fn programs() -> impl Iterator<Item = (&'static str, &'static str)> {
    all().map(|c| (c.name, c.about))
}

fn all() -> impl Iterator<Item = &'static Classic> {
    CLASSICS.iter().chain(OBJECTS)
}

/// Tells names of programs from names of compilers; all of a kind that none is named of.
///
/// # Errors
/// Names what is unknown, and what there is.
pub fn choose(
    wanted: &[String],
    arms: &[Arm],
    baseline: &str,
) -> Result<(Vec<&'static Classic>, Vec<Arm>), String> {
    let known: Vec<&str> =
        all().map(|c| c.name).chain(arms.iter().map(|a| a.name.as_str())).collect();
    names::all_known("program or compiler", wanted, &known)?;
    names::all_known("compiler", &[baseline.to_owned()], &known[all().count()..])?;
    let named = |name: &str| wanted.iter().any(|w| w == name);
    let any_program = all().any(|c| named(c.name));
    let any_arm = arms.iter().any(|a| named(&a.name));
    let chosen = arms.iter().filter(|a| !any_arm || named(&a.name) || a.name == baseline);
    let chosen: Vec<Arm> = chosen.cloned().collect();
    // Objects of one kind are for comparisons of this compiler with itself.
    let own = chosen.iter().any(|arm| arms::strategy(&arm.name).is_some());
    let programs = all().filter(|c| !any_program || named(c.name));
    Ok((programs.filter(|c| own || c.group != Group::Objects).collect(), chosen))
}

/// Compiles and runs every program on every arm, interleaved within each program.
///
/// # Errors
/// When a part of the laboratory is missing; what an arm cannot do is recorded instead.
pub fn run(request: &Request, progress: impl FnMut(&Step)) -> Result<Report, String> {
    let scratch = Scratch::new()?;
    let workloads: Vec<Workload> =
        request.programs.iter().map(|c| work::workload(c, request, &scratch)).collect();
    let plan = Plan {
        suite: SUITE,
        workloads: &workloads,
        arms: request.arms,
        baseline: request.baseline,
        apart: None,
        watched: metric::RUN,
        terms: request.terms,
    };
    let mut report = Report::of(driver::run(&plan, progress)?, request.terms.seed);
    report.provenance.settings.insert("scheme quick".into(), request.quick.to_string());
    let against = Against {
        arms: &compared(request).collect::<Vec<_>>(),
        baseline: request.baseline,
        apart: None,
        threshold: request.terms.threshold,
    };
    for view in views(request) {
        view.add_to(&mut report, against);
    }
    codegen::add_to(request, &mut report);
    Ok(report)
}

/// The arms that are compared with other systems.
fn compared<'a>(request: &Request<'a>) -> impl Iterator<Item = &'a str> {
    request.arms.iter().map(|arm| arm.name.as_str()).filter(|arm| !arms::is_apart(arm))
}

/// The names of the chosen programs of a group, or of all that count together.
fn names_of(request: &Request, group: Option<Group>) -> Vec<&'static str> {
    let wanted = |c: &&&Classic| match group {
        Some(group) => c.group == group,
        None => ![Group::Continuations, Group::Objects].contains(&c.group),
    };
    request.programs.iter().filter(wanted).map(|c| c.name).collect()
}

/// Time and peak memory of all programs but those that enter continuations again, which stand apart, and the
/// mean of each group. Objects of one kind are `codegen`'s.
fn views(request: &Request) -> Vec<View> {
    let all = names_of(request, None);
    let apart = names_of(request, Some(Group::Continuations));
    if request.terms.counting {
        let all = all.into_iter().chain(apart);
        return vec![View::new(INSTRUCTIONS, all, &metric::EXECUTED)];
    }
    let mut views = vec![
        View::new(SUITE, all.iter().copied(), &metric::RUN),
        View::peaks(SUITE, all.iter().copied()),
    ];
    if request.pauses {
        let all = all.into_iter().chain(apart);
        let pauses = View::new(PAUSES, all, &metric::PAUSE);
        views.push(View { ratios: Ratios::None, ..pauses });
    }
    for group in Group::ALL {
        let rows = names_of(request, Some(group));
        let view = View::new(&group_suite(group), rows.iter().copied(), &metric::RUN);
        views.extend(match group {
            Group::Objects => None,
            _ if rows.is_empty() => None,
            Group::Continuations => Some(view),
            _ => Some(View { results: false, ratios: Ratios::Mean, ..view }),
        });
    }
    views
}

#[cfg(test)]
impl<'a> Request<'a> {
    /// One round of programs at the sizes of a first look.
    fn quick(arms: &'a [Arm], baseline: &'a str, programs: &'a [&'static Classic]) -> Self {
        let rule = allod_lab::driver::Rule::rounds(1);
        let terms = Terms { rule, seed: 1, threshold: 0.01, counting: false };
        Request { arms, baseline, programs, terms, quick: true, pauses: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Vec<Arm> {
        vec![Arm::new("allod-gcc"), Arm::new("chez")]
    }

    #[test]
    fn programs_and_compilers_are_told_apart() {
        let (programs, arms) = choose(&["fib".into()], &two(), "chez").unwrap();
        assert_eq!((programs.len(), programs[0].name, arms.len()), (1, "fib", 2));
        let (programs, arms) = choose(&["allod-gcc".into()], &two(), "chez").unwrap();
        assert_eq!((programs.len(), arms.len()), (all().count(), 2), "and the baseline");
        let unknown = choose(&["fip".into()], &two(), "chez").unwrap_err();
        assert!(unknown.contains("did you mean fib?"), "{unknown}");
        assert!(choose(&[], &two(), "guile").unwrap_err().contains("allod-gcc"));
    }

    #[test]
    fn what_enters_continuations_again_is_in_no_other_mean() {
        let programs: Vec<&Classic> = CLASSICS.iter().collect();
        let arms = two();
        let request = Request::quick(&arms, "chez", &programs);
        let views = views(&request);
        let rows = |suite: &str| {
            let view = views.iter().find(|v| v.suite == suite).unwrap();
            view.rows.iter().map(|r| r.0.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(rows("scheme-continuations"), ["ctak", "fibc", "generator"]);
        assert!(!rows("scheme").contains(&"ctak") && rows("scheme").contains(&"fib"));
        let groups = ["allocation", "integers", "floats", "text"];
        let grouped: Vec<_> = groups.map(|g| rows(&format!("scheme-{g}"))).concat();
        assert_eq!(grouped, rows("scheme"), "each program is in one group");
    }
}
