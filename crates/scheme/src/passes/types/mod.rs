//! Type inference, by flow through the whole program; what is proven is not checked any more.
//!
//! ```text
//! takes  straight-line code with captures
//! gives  the same, where primitives whose arguments have proven types became others that check less
//!        (`%pair-car` for `car`, `%fxadd` for `%add`) or compute with flonums alone (`%fladd`), and
//!        branches that are never taken are gone
//! ```
//! Each local, result, global, box and record field has one [`Type`]: a set of kinds, and bounds for exact integers. All
//! begin with no value and grow until nothing changes; bounds grow in few steps. What is known of a
//! local on one path only (it is a pair, for `pair?` said so or `car` did not fail) holds to the end of that
//! path, because locals never change. Parameters of procedures that are values somewhere may be anything.

mod branch;
mod condition;
mod lattice;
mod prims;
mod specialise;
mod walk;

pub use lattice::Type;
use lattice::kind;

use crate::core::{Global, Program, Var};
use crate::straight::{Block, Code, Flow, ProcId, Rhs, Stmt, each_block};
use std::collections::HashMap;

/// What was found.
#[derive(Debug, Default)]
pub struct Types {
    vars: HashMap<Var, Type>,
    results: HashMap<(ProcId, usize), Type>,
    globals: HashMap<Global, Type>,
    boxes: HashMap<Var, Type>,
    fields: HashMap<(Global, i64), Type>,
    /// Procedures that are values somewhere.
    escaped: Vec<bool>,
    /// Clauses that may run.
    reached: Vec<Vec<bool>>,
}

impl Types {
    /// The type of a local, wherever it is used.
    pub fn var(&self, var: Var) -> Type {
        self.vars.get(&var).copied().unwrap_or(Type::NONE)
    }

    /// The type that was inferred for a local, if it was looked at.
    pub fn inferred(&self, var: Var) -> Option<Type> {
        self.vars.get(&var).copied()
    }

    /// The type of what a clause gives.
    pub fn result(&self, id: ProcId, clause: usize) -> Type {
        self.results.get(&(id, clause)).copied().unwrap_or(Type::NONE)
    }

    /// Whether a procedure is a value somewhere.
    pub fn is_escaped(&self, id: ProcId) -> bool {
        self.escaped.get(id.0 as usize).copied().unwrap_or(true)
    }
}

/// Infers the types of a program and makes use of them.
pub fn run(program: &mut Program, flow: &mut Flow) -> Types {
    let mut types = Types {
        escaped: vec![false; flow.procs.len()],
        reached: flow.procs.iter().map(|proc| vec![false; proc.clauses.len()]).collect(),
        ..Types::default()
    };
    for block in flow.tops.iter().chain(flow.procs.iter().flat_map(bodies)) {
        each_block(block, &mut |block| types.boxes.extend(boxes(block)));
    }
    let hooks: Vec<ProcId> =
        program.hooks.iter().filter_map(|(_, global)| flow.known.get(global).copied()).collect();
    let mut pass = walk::Walk::new(program, flow, types);
    hooks.into_iter().for_each(|id| pass.escape(id));
    while pass.round(false) {}
    pass.round(true);
    let types = pass.types;
    flow.immediate =
        types.vars.iter().filter(|(_, is)| is.is_immediate()).map(|(var, _)| *var).collect();
    types
}

fn bodies(proc: &crate::straight::Proc) -> impl Iterator<Item = &Block> {
    proc.clauses.iter().map(|Code { body, .. }| body)
}

/// The locals of a block, but not of those inside it, that hold boxes; nothing is in them yet.
fn boxes(block: &Block) -> impl Iterator<Item = (Var, Type)> {
    block.stmts.iter().filter_map(|stmt| match stmt {
        Stmt::Let(Some(var), Rhs::Prim(prim, ..), _) if prim.name == "%box" => {
            Some((*var, Type::NONE))
        }
        _ => None,
    })
}
