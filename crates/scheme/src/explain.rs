//! `allod scheme explain`: the source with what the compiler found out about it.

use crate::core::{Program, Var};
use crate::passes::regions::{Cause, Fate, Regions};
use crate::passes::types::Types;
use crate::straight::{Atom, Block, End, Flow, ProcId, Rhs, Stmt};
use allod_scheme_datum::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The number of a program's own file: the prelude has 0.
const MAIN: u32 = 1;

/// Notes by line and column.
type Notes = BTreeMap<(u32, u32), BTreeSet<String>>;

/// The source, and under its lines what was found there.
pub(crate) fn run(
    program: &Program,
    flow: &Flow,
    types: &Types,
    regions: &Regions,
    source: &str,
) -> String {
    let mut notes = Notes::new();
    for (i, proc) in flow.procs.iter().enumerate() {
        let id = ProcId(i as u32);
        for (c, clause) in proc.clauses.iter().enumerate() {
            if proc.at.file == MAIN {
                let params: Vec<String> =
                    clause.params.iter().map(|p| local(program, flow, types, *p)).collect();
                let double = flow.raw_results.contains(&(id, c));
                let result = if double { "double".into() } else { types.result(id, c).shown() };
                let known = if types.is_escaped(id) { ", a value somewhere" } else { "" };
                note(
                    &mut notes,
                    proc.at,
                    format!("{} ({}) gives {result}{known}", proc.name, params.join(", ")),
                );
                if proc.open {
                    note(
                        &mut notes,
                        proc.at,
                        format!("closure of {}: {}", proc.name, fate(regions, proc.at)),
                    );
                }
            }
            block(program, flow, regions, &clause.body, &mut notes);
        }
    }
    flow.tops.iter().for_each(|top| block(program, flow, regions, top, &mut notes));
    let mut shown = String::new();
    for (i, line) in source.lines().enumerate() {
        writeln!(shown, "{line}").expect("strings grow");
        for ((_, column), all) in notes.range((i as u32 + 1, 0)..(i as u32 + 2, 0)) {
            for one in all {
                let before = " ".repeat(*column as usize - 1);
                writeln!(shown, "{before};^ {one}").expect("strings grow");
            }
        }
    }
    shown
}

fn note(notes: &mut Notes, at: Place, text: String) {
    if at.file == MAIN && at.line > 0 {
        notes.entry((at.line, at.column)).or_default().insert(text);
    }
}

fn local(program: &Program, flow: &Flow, types: &Types, var: Var) -> String {
    let is = if flow.raw.contains(&var) { "double".into() } else { types.var(var).shown() };
    format!("{}: {is}", program.vars[var.0 as usize].name)
}

fn block(program: &Program, flow: &Flow, regions: &Regions, b: &Block, notes: &mut Notes) {
    // What gets a box next is noted where it is needed.
    let mut boxed = None;
    for stmt in &b.stmts {
        if let Stmt::Let(_, rhs, _) = stmt {
            if let Rhs::Prim(prim, all, _) = rhs
                && prim.name == "%flonum"
                && let [Atom::Local(var)] = &all[..]
            {
                boxed = Some(program.vars[var.0 as usize].name.clone());
            }
            within(program, flow, regions, rhs, &mut boxed, notes);
        }
    }
    match &b.end {
        End::Return(rhs) => within(program, flow, regions, rhs, &mut boxed, notes),
        End::If(test, then, other) => {
            within(program, flow, regions, test, &mut boxed, notes);
            block(program, flow, regions, then, notes);
            block(program, flow, regions, other, notes);
        }
        End::Loops(labels, body) => {
            for label in labels {
                block(program, flow, regions, &label.body, notes);
            }
            block(program, flow, regions, body, notes);
        }
        End::Go(..) => {}
    }
}

fn within(
    program: &Program,
    flow: &Flow,
    regions: &Regions,
    rhs: &Rhs,
    boxed: &mut Option<std::rc::Rc<str>>,
    notes: &mut Notes,
) {
    match rhs {
        Rhs::Block(inner) => block(program, flow, regions, inner, notes),
        Rhs::Prim(prim, _, at) => {
            let name = prim.name.trim_start_matches('%');
            if prim.gives_raw() || prim.takes_raw() && prim.is_truth() {
                note(notes, *at, "doubles, never boxed".into());
            } else if prim.takes_memory() && prim.name != "%flonum" {
                note(notes, *at, format!("{name}: {}", fate(regions, *at)));
            }
            if at.line > 0
                && let Some(name) = boxed.take()
            {
                boxes(name, *at, regions, notes);
            }
        }
        Rhs::Call(_, _, _, at) => {
            if let Some(name) = boxed.take() {
                boxes(name, *at, regions, notes);
            }
        }
        _ => {}
    }
}

fn boxes(name: std::rc::Rc<str>, at: Place, regions: &Regions, notes: &mut Notes) {
    let fate = match regions.fates.get(&at) {
        None => "evacuated".into(),
        Some(_) => fate(regions, at),
    };
    note(notes, at, format!("{name}: a double that gets a box here, {fate}"));
}

/// What becomes of what is made at a place.
fn fate(regions: &Regions, at: Place) -> String {
    let line = |at: Place| match at {
        Place { file: MAIN, line, .. } if line > 0 => format!(", line {line}"),
        _ => String::new(),
    };
    match regions.fates.get(&at) {
        None => "evacuated, if it makes an object".into(),
        Some(Fate::Dropped(at)) => format!("scope of line {}", at.line),
        Some(Fate::Replaced) => "dropped in the next turn of the loop".into(),
        Some(Fate::Moved(why)) => {
            let place = line(why.at);
            let unless = "evacuated, unless in a caller's scope";
            match why.cause {
                Cause::Returned => format!("{unless}: returned"),
                Cause::Passed => format!("{unless}: passed to a call in tail position{place}"),
                Cause::Carried => format!("{unless}: carried to the next turn of a loop"),
                Cause::Stored => format!("{unless}: stored in what may be older{place}"),
                Cause::Continuation => {
                    format!("evacuated: a continuation is captured or entered{place}")
                }
                Cause::Outside => format!("evacuated: a port is opened{place}"),
            }
        }
    }
}
