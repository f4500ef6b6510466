//! This compiler compared with itself: objects made by inlined typed allocation against constructors,
//! inferred types against none, and inferred scopes against none.

use super::arms::{COMPILERS, CONSTRUCTORS, Strategy, UNSCOPED, UNTYPED, USUAL};
use super::{Request, SUITE, names_of};
use crate::required::{self, Required};
use allod_lab::model::{Report, metric};
use allod_lab::table::{Table, digits};
use allod_lab::views::{Against, GEOMETRIC_MEAN, Ratios, View};
use allod_scheme::classics::Group;

/// What each suite is called, and the two strategies that it compares, the slow one first. Each pair differs in
/// one thing: constructors allow no scopes, so the first two do without.
const COMPARED: [(&str, [Strategy; 2]); 3] = [
    ("typed", [CONSTRUCTORS, UNSCOPED]),
    ("inferred", [UNTYPED, UNSCOPED]),
    ("scoped", [UNSCOPED, USUAL]),
];

/// How many times faster typed allocation is to be than constructors, at least.
const WANTED: [(&str, f64); 7] = [
    ("typed-int", 1.2),
    ("typed-float", 1.2),
    ("typed-pair", 1.5),
    ("typed-symbol", 3.0),
    ("typed-array", 2.0),
    ("typed-mixed", 1.2),
    ("typed-large", 1.2),
];

/// A comparison by a C compiler: its suite, and the arms, the slow one first.
struct Pair {
    suite: String,
    column: String,
    slow: String,
    fast: String,
}

/// The comparisons of which both arms take part.
fn pairs(request: &Request) -> Vec<Pair> {
    let pair = |cc: &str, (name, [slow, fast]): (&str, [Strategy; 2])| Pair {
        suite: format!("{SUITE}-{name}-{cc}"),
        column: format!("{name}, {cc}"),
        slow: slow.arm(cc),
        fast: fast.arm(cc),
    };
    let takes_part = |arm: &str| request.arms.iter().any(|a| a.name == arm);
    let all = COMPILERS.iter().flat_map(|cc| COMPARED.map(|compared| pair(cc, compared)));
    all.filter(|p| takes_part(&p.slow) && takes_part(&p.fast)).collect()
}

/// The suite of the comparisons of whole programs.
fn of_programs(suite: &str) -> String {
    format!("{suite}-programs")
}

/// Adds the comparisons and what is required of them to a report that has the observations.
pub(super) fn add_to(request: &Request, report: &mut Report) {
    if request.terms.counting {
        return;
    }
    for Pair { suite, slow, fast, .. } in pairs(request) {
        let against = Against {
            arms: &[&slow, &fast],
            baseline: &slow,
            apart: None,
            threshold: request.terms.threshold,
        };
        let objects = View::new(&suite, names_of(request, Some(Group::Objects)), &metric::RUN);
        let programs = View::new(&of_programs(&suite), names_of(request, None), &metric::RUN);
        View { results: false, ratios: Ratios::Rows, ..objects }.add_to(report, against);
        View { results: false, ..programs }.add_to(report, against);
    }
    let required = |(row, wanted): &(&str, f64)| {
        COMPILERS
            .map(|cc| Required::within(row, [&CONSTRUCTORS.arm(cc), &UNSCOPED.arm(cc)], *wanted))
    };
    let all = WANTED.iter().flat_map(required).collect();
    report.required = required::judged(SUITE, &metric::RUN, all, report, request.terms.threshold);
}

/// How many times faster, row by row, and over all programs.
pub(super) fn table(request: &Request, report: &Report) -> String {
    let pairs = pairs(request);
    if pairs.is_empty() {
        return String::new();
    }
    let mut table = Table::new(std::iter::once("").chain(pairs.iter().map(|p| p.column.as_str())));
    let mut line = |name: &str, row: &str, suite: fn(&str) -> String| {
        let cell = |p: &Pair| match report.comparison(&suite(&p.suite), row, &p.fast) {
            Some(c) => {
                let [low, high] = c.ci95.map(digits);
                format!("{} ({low}–{high}){}", digits(c.ratio), c.verdict.mark())
            }
            None => "–".into(),
        };
        table.row(std::iter::once(name.to_owned()).chain(pairs.iter().map(cell)));
    };
    for row in names_of(request, Some(Group::Objects)) {
        line(row, row, str::to_owned);
    }
    let programs = names_of(request, None);
    for row in &programs {
        line(row, row, of_programs);
    }
    if programs.len() > 1 {
        line(
            &format!("geometric mean of {} programs", programs.len()),
            GEOMETRIC_MEAN,
            of_programs,
        );
    }
    format!(
        "This compiler compared with itself: \"typed\" is how many times faster a program is whose objects are\n\
         made by inlined typed allocation than the same by constructors, \"inferred\" how many times faster it is\n\
         with inferred types than without, both without scopes, \"scoped\" how many times faster it is with inferred\n\
         scopes than without; with 95 % intervals.\n\n{table}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use allod_lab::model::Arm;
    use allod_scheme::classics::{Classic, OBJECTS};

    #[test]
    fn every_row_of_objects_has_a_requirement() {
        let wanted = WANTED.map(|(row, _)| row);
        assert_eq!(wanted.to_vec(), OBJECTS.iter().map(|c| c.name).collect::<Vec<_>>());
    }

    #[test]
    fn only_arms_that_take_part_are_compared() {
        let arms = ["allod-gcc", "unscoped-gcc", "untyped-gcc", "constructors-clang"].map(Arm::new);
        let programs: Vec<&Classic> = OBJECTS.iter().collect();
        let request = Request::quick(&arms, "allod-gcc", &programs);
        let found: Vec<_> =
            pairs(&request).into_iter().map(|p| (p.suite, p.slow, p.fast)).collect();
        let pair = |suite: &str, slow: &str, fast: &str| (suite.into(), slow.into(), fast.into());
        assert_eq!(
            found,
            [
                pair("scheme-inferred-gcc", "untyped-gcc", "unscoped-gcc"),
                pair("scheme-scoped-gcc", "unscoped-gcc", "allod-gcc"),
            ]
        );
    }
}
