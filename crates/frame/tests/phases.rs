//! Phases of frames, for reports.

use allod_frame::{Arena, Phases};

#[test]
fn one_name_within_two_phases_is_two_phases_that_stand_below_them() {
    let phases = Phases::new();
    let mut arena = Arena::new();
    for _ in 0..3 {
        arena.frame(|f| {
            phases.run("physics", f, |f| phases.run("sort", f, |f| *f.alloc([1u8; 64])));
            phases.run("render", f, |f| phases.run("sort", f, |f| *f.alloc([2u8; 64])));
            phases.run("physics", f, |f| phases.run("solve", f, |f| *f.alloc([3u8; 64])));
        });
    }
    let report = phases.report();
    let names: Vec<_> = report.iter().map(|phase| (phase.name, phase.within, phase.runs)).collect();
    let physics = [("physics", None, 6), ("sort", Some(0), 3)];
    let render = [("render", None, 3), ("sort", Some(2), 3), ("solve", Some(0), 3)];
    assert_eq!(names, [&physics[..], &render[..]].concat());
    assert!(report[0].bytes >= report[1].bytes + report[4].bytes);
    let text = phases.to_string();
    let order: Vec<_> = text.lines().skip(1).map(|line| &line[..10]).collect();
    assert_eq!(order, ["physics   ", "  sort    ", "  solve   ", "render    ", "  sort    "]);
}

#[test]
fn a_panic_in_a_phase_leaves_it() {
    let phases = Phases::new();
    let run = std::panic::AssertUnwindSafe(|| {
        Arena::new().frame(|f| phases.run("fails", f, |_| panic!("in a phase")));
    });
    assert!(std::panic::catch_unwind(run).is_err());
    Arena::new().frame(|f| phases.run("next", f, |f| *f.alloc(1)));
    assert_eq!(phases.report()[1].within, None);
}
