//! Closure conversion: what each procedure captures.
//!
//! ```text
//! takes  straight-line code
//! gives  the same, where each procedure lists the locals that it captures
//! ```
//! A local that is bound to a procedure which captures nothing is a constant, and captured by nobody. Which
//! procedures capture nothing is the greatest solution: all do, until one is found that needs a local that is
//! no such constant. A procedure finds itself in its own closure.

use crate::core::Var;
use crate::straight::{Atom, Block, End, Flow, ProcId, Rhs, Stmt};
use std::collections::{BTreeSet, HashSet};

/// Fills in `free` of all procedures.
pub fn run(flow: &mut Flow) {
    let count = flow.procs.len();
    let mut raw: Vec<Option<BTreeSet<Var>>> = vec![None; count];
    for i in 0..count {
        free_of(flow, ProcId(i as u32), &mut raw);
    }
    let raw: Vec<BTreeSet<Var>> = raw.into_iter().map(|set| set.expect("computed")).collect();
    let mut open = vec![false; count];
    loop {
        let mut changed = false;
        for i in 0..count {
            let needs = |var: &Var| {
                flow.proc_of.get(var).is_none_or(|id| id.0 as usize != i && open[id.0 as usize])
            };
            if !open[i] && raw[i].iter().any(needs) {
                open[i] = true;
                changed = true;
            }
        }
        if !changed {
            break;
        }
    }
    for (i, set) in raw.into_iter().enumerate() {
        let own = flow.procs[i].var;
        let captured = |var: &Var| {
            Some(*var) != own && flow.proc_of.get(var).is_none_or(|id| open[id.0 as usize])
        };
        flow.procs[i].free = set.into_iter().filter(captured).collect();
        flow.procs[i].open = open[i];
    }
}

fn free_of(flow: &Flow, id: ProcId, raw: &mut Vec<Option<BTreeSet<Var>>>) -> BTreeSet<Var> {
    if let Some(known) = &raw[id.0 as usize] {
        return known.clone();
    }
    let mut found = Free { flow, raw, used: BTreeSet::new(), bound: HashSet::new() };
    for clause in &flow.procs[id.0 as usize].clauses {
        found.bound.extend(clause.params.iter().copied());
        found.block(&clause.body);
    }
    let Free { used, bound, .. } = found;
    let free: BTreeSet<Var> = used.into_iter().filter(|var| !bound.contains(var)).collect();
    raw[id.0 as usize] = Some(free.clone());
    free
}

struct Free<'a> {
    flow: &'a Flow,
    raw: &'a mut Vec<Option<BTreeSet<Var>>>,
    used: BTreeSet<Var>,
    bound: HashSet<Var>,
}

impl Free<'_> {
    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            match stmt {
                Stmt::Let(var, rhs, _) => {
                    self.rhs(rhs);
                    self.bound.extend(*var);
                }
                Stmt::Closures(all) => {
                    for (var, id) in all {
                        self.bound.insert(*var);
                        let inner = free_of(self.flow, *id, self.raw);
                        self.used.extend(inner);
                    }
                }
                Stmt::Scope(_) => {}
            }
        }
        match &block.end {
            End::Return(rhs) => self.rhs(rhs),
            End::If(test, then, other) => {
                self.rhs(test);
                self.block(then);
                self.block(other);
            }
            End::Loops(labels, body) => {
                for label in labels {
                    self.bound.extend(label.params.iter().copied());
                    self.block(&label.body);
                }
                self.block(body);
            }
            End::Go(_, arguments) => arguments.iter().for_each(|a| self.atom(a)),
        }
    }

    fn rhs(&mut self, rhs: &Rhs) {
        match rhs {
            Rhs::Atom(atom) | Rhs::SetGlobal(_, atom, _) => self.atom(atom),
            Rhs::Prim(_, all, _) => all.iter().for_each(|a| self.atom(a)),
            Rhs::Call(operator, _, all, _) => {
                self.atom(operator);
                all.iter().for_each(|a| self.atom(a));
            }
            Rhs::Global(_) => {}
            Rhs::Block(block) => self.block(block),
        }
    }

    fn atom(&mut self, atom: &Atom) {
        if let Atom::Local(var) = atom {
            self.used.insert(*var);
        }
    }
}
