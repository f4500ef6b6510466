//! Region inference: which objects are dropped in a scope, a few instructions after they were made.
//!
//! ```text
//! takes  straight-line code after `unbox`
//! gives  the same, where `mark N` and `release N` enclose a scope, and `keep` stands before some stores
//! ```
//! Everything lies in one region. A scope remembers how far the region is filled when it begins; when it
//! ends, all that was made meanwhile is dropped, by the scope's own code and by all that it calls. It may
//! begin and end anywhere in a clause, and end in several places, one for each path; so it need not follow the
//! structure of the program, and it never surrounds a call in tail position: the release comes before.
//!
//! A scope is placed where it is proven that nothing made in it is used after it:
//!
//! - no local that is needed later leads to it. A number that is computed may be an object, but is mostly
//!   immediate: then the program looks, and releases only if it is;
//! - nothing that is older leads to it. `summary` finds by a fixpoint through the whole program what each
//!   procedure stores where, in terms of its arguments (`origins`). Where a number is stored, the program
//!   looks as well: `keep` ends all scopes, without a release, if it is an object;
//! - no continuation is captured or entered in it, and no port is opened. A call that does not name its procedure does what
//!   any of those does that it may reach (`callees`).
//!
//! What a path does that ends with an error is forgotten, because an error never comes back: whoever handles it
//! leaves the scope, and the release is not reached. What is left over is moved at safe points; that ends all
//! scopes, too, and their releases do nothing.

mod apply;
mod callees;
mod calls;
mod origins;
mod place;
mod summary;
mod turns;
mod walk;

use crate::core::{Global, Program, Var};
use crate::straight::{Atom, Block, End, Flow, ProcId, Rhs, Stmt, each_block, each_rhs};
use allod_scheme_datum::Place;
use std::collections::{HashMap, HashSet};

/// Why an object is not dropped by a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is part of a result.
    Returned,
    /// It is given to a call in tail position.
    Passed,
    /// It is given to the next turn of a loop.
    Carried,
    /// It is stored where it can be found later.
    Stored,
    /// A continuation is captured or entered, or may be, before it could be dropped.
    Continuation,
    /// It is a port, or a port is opened before it could be dropped.
    Outside,
}

/// A cause, and where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Why {
    /// The cause.
    pub cause: Cause,
    /// Its place, if it has one.
    pub at: Place,
}

impl Why {
    /// The place, or that of the call which led there.
    fn or(self, at: Place) -> Place {
        if self.at.file == 0 || self.at.line == 0 { at } else { self.at }
    }
}

/// What becomes of the objects that are made at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// They are dropped by a scope that begins there.
    Dropped(Place),
    /// They are dropped in the next turn of the loop that makes them, or carries them.
    Replaced,
    /// They may be moved.
    Moved(Why),
}

/// What was decided, for people.
#[derive(Debug, Default)]
pub struct Regions {
    /// For each place where objects are made.
    pub fates: HashMap<Place, Fate>,
}

/// Places scopes.
pub fn run(program: &mut Program, flow: &mut Flow) -> Regions {
    let (edits, regions) = decide(program, flow);
    apply::run(program, flow, edits);
    regions
}

/// Stores of numbers that are looked at together, at most.
const TRIED: usize = 12;

/// Places scopes, and finds out at which stores of numbers the program need not look: those that no scope depends on. There
/// a number that is an object ends no scope, and no time is lost.
fn decide(program: &Program, flow: &Flow) -> (place::Edits, Regions) {
    let before = summary::before(program, flow);
    let known = summary::run(&before, HashSet::new());
    let mut best = place::run(&known);
    let wanted = place::scopes(&best.0);
    if wanted.is_empty() {
        return best;
    }
    let mut unkept = HashSet::new();
    let in_objects = known.stores_kept();
    let mut groups = if in_objects.is_empty() { Vec::new() } else { vec![in_objects] };
    for _ in 0..TRIED {
        let Some(mut group) = groups.pop() else { break };
        let tried: HashSet<_> = unkept.iter().chain(&group).copied().collect();
        let found = place::run(&summary::run(&before, tried.clone()));
        if wanted.is_subset(&place::scopes(&found.0)) {
            (best, unkept) = (found, tried);
        } else if group.len() > 1 {
            groups.push(group.split_off(group.len() / 2));
            groups.push(group);
        }
    }
    best
}

/// A procedure's clause.
type ClauseId = (ProcId, usize);

/// All clauses of a program.
fn clauses(flow: &Flow) -> impl Iterator<Item = ClauseId> {
    let ids = flow.procs.iter().enumerate();
    ids.flat_map(|(i, proc)| (0..proc.clauses.len()).map(move |c| (ProcId(i as u32), c)))
}

/// What a clause does, as code.
fn body(flow: &Flow, (id, clause): ClauseId) -> &Block {
    &flow.procs[id.0 as usize].clauses[clause].body
}

/// All code of a program.
fn roots(flow: &Flow) -> impl Iterator<Item = &Block> {
    let clauses = flow.procs.iter().flat_map(|proc| &proc.clauses);
    clauses.map(|clause| &clause.body).chain(&flow.tops)
}

/// The parameters of all labels.
fn labels(flow: &Flow) -> HashMap<Var, Vec<Var>> {
    let mut found = HashMap::new();
    for root in roots(flow) {
        each_block(root, &mut |block| {
            if let End::Loops(labels, _) = &block.end {
                found.extend(labels.iter().map(|label| (label.name, label.params.clone())));
            }
        });
    }
    found
}

/// Globals whose values are all constants.
fn constants(flow: &Flow) -> HashSet<Global> {
    let mut is = HashMap::new();
    for root in roots(flow) {
        each_rhs(root, &mut |rhs| {
            if let Rhs::SetGlobal(global, atom, _) = rhs {
                *is.entry(*global).or_insert(true) &= matches!(atom, Atom::Const(_));
            }
        });
    }
    is.into_iter().filter(|(_, constant)| *constant).map(|(global, _)| global).collect()
}

/// The locals that are named in what computes a value.
fn named_in(rhs: &Rhs, flow: &Flow, found: &mut HashSet<Var>) {
    let mut atom = |atom: &Atom| {
        if let Atom::Local(var) = atom {
            found.insert(*var);
        }
    };
    match rhs {
        Rhs::Atom(one) | Rhs::SetGlobal(_, one, _) => atom(one),
        Rhs::Prim(_, all, _) => all.iter().for_each(atom),
        Rhs::Call(operator, _, all, _) => {
            atom(operator);
            all.iter().for_each(atom);
        }
        Rhs::Global(_) => {}
        Rhs::Block(block) => named(block, flow, found),
    }
}

/// The locals that a step names.
fn named_by(stmt: &Stmt, flow: &Flow, found: &mut HashSet<Var>) {
    match stmt {
        Stmt::Let(_, rhs, _) => named_in(rhs, flow, found),
        Stmt::Closures(all) => {
            for (_, id) in all {
                found.extend(&flow.procs[id.0 as usize].free);
            }
        }
        Stmt::Scope(_) => {}
    }
}

/// The locals that the end of a block names.
fn named_at_end(end: &End, flow: &Flow, found: &mut HashSet<Var>) {
    match end {
        End::Return(rhs) => named_in(rhs, flow, found),
        End::If(test, then, other) => {
            named_in(test, flow, found);
            named(then, flow, found);
            named(other, flow, found);
        }
        End::Loops(labels, body) => {
            labels.iter().for_each(|label| named(&label.body, flow, found));
            named(body, flow, found);
        }
        End::Go(_, all) => {
            found.extend(all.iter().filter_map(|atom| match atom {
                Atom::Local(var) => Some(*var),
                _ => None,
            }));
        }
    }
}

fn named(block: &Block, flow: &Flow, found: &mut HashSet<Var>) {
    block.stmts.iter().for_each(|stmt| named_by(stmt, flow, found));
    named_at_end(&block.end, flow, found);
}
