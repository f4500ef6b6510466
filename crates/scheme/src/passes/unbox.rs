//! Flonums without boxes.
//!
//! ```text
//! takes  straight-line code after `types`
//! gives  the same, where locals and results that are always flonums are plain doubles (`raw`), and
//!        `%flonum` and `%flonum-value` stand where a double becomes a value or the other way round
//! ```
//! A local is raw when it is a flonum wherever it is defined, no closure captures it, and something uses it as a
//! double; so are parameters of procedures that are only called, and parameters of labels. A
//! result is raw when all that the clause gives are flonums and nobody calls it as a value; tail calls make the result of
//! both procedures the same. A raw local needs no root: the stack of roots never holds a double.

use super::types::Types;
use crate::core::{Const, Program, Var};
use crate::prims;
use crate::straight::{Atom, Block, End, Flow, ProcId, Rhs, Stmt, each_block};
use allod_scheme_datum::{Node, Number, Place};
use std::collections::{HashMap, HashSet};

type ClauseId = (ProcId, usize);

/// What a block's value is for.
#[derive(Clone, Copy, PartialEq)]
enum Want {
    Raw,
    Value,
    Nothing,
}

fn want(raw: bool) -> Want {
    if raw { Want::Raw } else { Want::Value }
}

/// Which locals and results are raw, and what labels take.
struct Plan {
    raw: HashSet<Var>,
    results: HashSet<ClauseId>,
    /// Parameters by label, and by clause.
    labels: HashMap<Var, Vec<Var>>,
    clauses: HashMap<ClauseId, Vec<Var>>,
}

/// Takes flonums out of their boxes.
pub fn run(program: &mut Program, flow: &mut Flow, types: &Types) {
    let mut plan = Plan {
        raw: HashSet::new(),
        results: results(flow, types),
        labels: HashMap::new(),
        clauses: HashMap::new(),
    };
    let captured: HashSet<Var> =
        flow.procs.iter().flat_map(|proc| proc.free.iter().copied()).collect();
    let is_flonum = |var: &Var| types.var(*var).is_flonum() && !captured.contains(var);
    for (id, proc) in flow.procs.iter().enumerate() {
        for (c, clause) in proc.clauses.iter().enumerate() {
            plan.clauses.insert((ProcId(id as u32), c), clause.params.clone());
        }
    }
    each_root(flow, &mut |block, _| define(block, &mut plan));
    let params = plan.labels.values().chain(plan.clauses.values()).flatten();
    let locals = (0..program.vars.len() as u32).map(Var).filter(is_flonum);
    plan.raw = locals.chain(params.copied().filter(is_flonum)).collect();
    loop {
        let mut used = HashSet::new();
        each_root(flow, &mut |block, clause| {
            let want = clause.map_or(Want::Nothing, |c| want(plan.results.contains(&c)));
            uses(block, want, &plan, &mut |var| {
                used.insert(var);
            });
        });
        let before = plan.raw.len();
        plan.raw.retain(|var| used.contains(var));
        if plan.raw.len() == before {
            break;
        }
    }
    let mut pass = Convert { program, plan };
    for top in &mut flow.tops {
        pass.block(top, Want::Nothing);
    }
    for (id, proc) in flow.procs.iter_mut().enumerate() {
        for (c, clause) in proc.clauses.iter_mut().enumerate() {
            let raw = pass.plan.results.contains(&(ProcId(id as u32), c));
            pass.block(&mut clause.body, want(raw));
        }
    }
    flow.raw = pass.plan.raw;
    flow.raw_results = pass.plan.results;
}

fn each_root(flow: &Flow, each: &mut dyn FnMut(&Block, Option<ClauseId>)) {
    flow.tops.iter().for_each(|top| each(top, None));
    for (id, proc) in flow.procs.iter().enumerate() {
        for (c, clause) in proc.clauses.iter().enumerate() {
            each(&clause.body, Some((ProcId(id as u32), c)));
        }
    }
}

/// The clauses whose results are raw.
fn results(flow: &Flow, types: &Types) -> HashSet<ClauseId> {
    let mut raw = HashSet::new();
    let mut edges = Vec::new();
    each_root(flow, &mut |block, clause| {
        let Some((id, c)) = clause else { return };
        if !types.is_escaped(id) && types.result(id, c).is_flonum() {
            raw.insert((id, c));
        }
        tail_calls(block, &mut |callee| edges.push(((id, c), callee)));
    });
    loop {
        let before = raw.len();
        for (caller, callee) in &edges {
            if !(raw.contains(caller) && raw.contains(callee)) {
                raw.remove(caller);
                raw.remove(callee);
            }
        }
        if raw.len() == before {
            return raw;
        }
    }
}

fn tail_calls(block: &Block, each: &mut dyn FnMut(ClauseId)) {
    match &block.end {
        End::Return(Rhs::Call(_, Some(callee), ..)) => each(*callee),
        End::Return(Rhs::Block(block)) => tail_calls(block, each),
        End::If(_, then, other) => {
            tail_calls(then, each);
            tail_calls(other, each);
        }
        End::Loops(labels, body) => {
            labels.iter().for_each(|label| tail_calls(&label.body, each));
            tail_calls(body, each);
        }
        End::Return(_) | End::Go(..) => {}
    }
}

/// Notes the parameters of labels.
fn define(block: &Block, plan: &mut Plan) {
    each_block(block, &mut |block| {
        if let End::Loops(labels, _) = &block.end {
            plan.labels.extend(labels.iter().map(|label| (label.name, label.params.clone())));
        }
    });
}

/// Calls `each` for every local that is used as a double.
fn uses(block: &Block, wanted: Want, plan: &Plan, each: &mut dyn FnMut(Var)) {
    for stmt in &block.stmts {
        if let Stmt::Let(var, rhs, _) = stmt {
            let wanted = var.map_or(Want::Nothing, |var| want(plan.raw.contains(&var)));
            uses_in(rhs, wanted, plan, each);
        }
    }
    match &block.end {
        End::Return(rhs) => uses_in(rhs, wanted, plan, each),
        End::If(test, then, other) => {
            uses_in(test, Want::Value, plan, each);
            uses(then, wanted, plan, each);
            uses(other, wanted, plan, each);
        }
        End::Loops(labels, body) => {
            labels.iter().for_each(|label| uses(&label.body, wanted, plan, each));
            uses(body, wanted, plan, each);
        }
        End::Go(label, all) => passed(all, plan.labels.get(label), plan, each),
    }
}

fn passed(all: &[Atom], params: Option<&Vec<Var>>, plan: &Plan, each: &mut dyn FnMut(Var)) {
    for (atom, param) in all.iter().zip(params.into_iter().flatten()) {
        if let (Atom::Local(var), true) = (atom, plan.raw.contains(param)) {
            each(*var);
        }
    }
}

fn uses_in(rhs: &Rhs, wanted: Want, plan: &Plan, each: &mut dyn FnMut(Var)) {
    match rhs {
        Rhs::Atom(Atom::Local(var)) if wanted == Want::Raw => each(*var),
        Rhs::Prim(prim, all, _) if prim.takes_raw() => {
            for atom in all {
                if let Atom::Local(var) = atom {
                    each(*var);
                }
            }
        }
        Rhs::Call(_, Some(clause), all, _) => passed(all, plan.clauses.get(clause), plan, each),
        Rhs::Block(block) => uses(block, wanted, plan, each),
        _ => {}
    }
}

struct Convert<'p> {
    program: &'p mut Program,
    plan: Plan,
}

impl Convert<'_> {
    fn block(&mut self, block: &mut Block, wanted: Want) {
        let mut done = Vec::new();
        for mut stmt in std::mem::take(&mut block.stmts) {
            if let Stmt::Let(var, rhs, _) = &mut stmt {
                let wanted = var.map_or(Want::Nothing, |var| want(self.plan.raw.contains(&var)));
                self.rhs(rhs, wanted, &mut done);
            }
            done.push(stmt);
        }
        match &mut block.end {
            End::Return(rhs) => self.rhs(rhs, wanted, &mut done),
            End::If(test, then, other) => {
                self.rhs(test, Want::Value, &mut done);
                self.block(then, wanted);
                self.block(other, wanted);
            }
            End::Loops(labels, body) => {
                labels.iter_mut().for_each(|label| self.block(&mut label.body, wanted));
                self.block(body, wanted);
            }
            End::Go(label, all) => {
                let params = self.plan.labels.get(label).cloned().unwrap_or_default();
                self.pass(all, &params, &mut done);
            }
        }
        block.stmts = done;
    }

    fn pass(&mut self, all: &mut [Atom], params: &[Var], done: &mut Vec<Stmt>) {
        for (atom, param) in all.iter_mut().zip(params) {
            let raw = self.plan.raw.contains(param);
            self.atom(atom, raw, done);
        }
    }

    fn is_raw(&self, atom: &Atom) -> bool {
        matches!(atom, Atom::Local(var) if self.plan.raw.contains(var))
    }

    /// Makes an atom raw, or a value.
    fn atom(&mut self, atom: &mut Atom, raw: bool, done: &mut Vec<Stmt>) {
        let literal = matches!(atom, Atom::Const(Const::Datum(datum))
            if matches!(datum.node, Node::Number(Number::Float(_))));
        if self.is_raw(atom) != raw && !(raw && literal) {
            *atom = self.name(Rhs::Atom(atom.clone()), raw, done);
        }
    }

    /// Names a value that is raw, or the other way round, and its conversion.
    fn name(&mut self, rhs: Rhs, raw: bool, done: &mut Vec<Stmt>) -> Atom {
        let from = match rhs {
            Rhs::Atom(atom) => atom,
            rhs => {
                let var = self.program.var("t");
                if !raw {
                    self.plan.raw.insert(var);
                }
                done.push(Stmt::Let(Some(var), rhs, Vec::new()));
                Atom::Local(var)
            }
        };
        let var = self.program.var(if raw { "double" } else { "flonum" });
        if raw {
            self.plan.raw.insert(var);
        }
        done.push(Stmt::Let(Some(var), conversion(raw, from), Vec::new()));
        Atom::Local(var)
    }

    fn rhs(&mut self, rhs: &mut Rhs, wanted: Want, done: &mut Vec<Stmt>) {
        let gives_raw = match rhs {
            Rhs::Atom(atom) => {
                if wanted != Want::Nothing {
                    self.atom(atom, wanted == Want::Raw, done);
                }
                return;
            }
            Rhs::Block(block) => {
                self.block(block, wanted);
                return;
            }
            Rhs::Prim(prim, all, _) => {
                all.iter_mut().for_each(|atom| self.atom(atom, prim.takes_raw(), done));
                prim.gives_raw()
            }
            Rhs::Call(operator, known, all, _) => {
                self.atom(operator, false, done);
                match known {
                    Some(clause) => {
                        let params = self.plan.clauses[&*clause].clone();
                        self.pass(all, &params, done);
                        self.plan.results.contains(&*clause)
                    }
                    None => {
                        all.iter_mut().for_each(|atom| self.atom(atom, false, done));
                        false
                    }
                }
            }
            Rhs::SetGlobal(_, atom, _) => {
                self.atom(atom, false, done);
                false
            }
            Rhs::Global(_) => false,
        };
        let raw = wanted == Want::Raw;
        if wanted != Want::Nothing && gives_raw != raw {
            let old = std::mem::replace(rhs, Rhs::Atom(Atom::Const(Const::Unspecified)));
            let Atom::Local(var) = self.name(old, raw, done) else {
                unreachable!("names are locals")
            };
            // The conversion itself may stand here.
            *rhs = match done.pop() {
                Some(Stmt::Let(Some(last), conversion, _)) if last == var => conversion,
                _ => unreachable!("it was the last"),
            };
        }
    }
}

fn conversion(raw: bool, from: Atom) -> Rhs {
    let name = if raw { "%flonum-value" } else { "%flonum" };
    let prim = prims::find(name).expect("it is in the table");
    Rhs::Prim(prim, vec![from], Place::default())
}
