//! Writes scopes into the code.

use super::place::{Edit, Edits};
use crate::core::{Program, Var};
use crate::effects::Stores;
use crate::straight::{Atom, Block, End, Flow, Rhs, Step, Stmt};
use std::collections::HashSet;

/// Changes all blocks as it was decided.
pub(super) fn run(program: &mut Program, flow: &mut Flow, edits: Edits) {
    let mut pass = Apply { program, edits, raw: HashSet::new() };
    for proc in &mut flow.procs {
        proc.clauses.iter_mut().for_each(|clause| pass.block(&mut clause.body));
    }
    flow.tops.iter_mut().for_each(|top| pass.block(top));
    flow.raw.extend(pass.raw);
}

struct Apply<'p> {
    program: &'p mut Program,
    edits: Edits,
    /// New locals that are doubles.
    raw: HashSet<Var>,
}

impl Apply<'_> {
    fn block(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            if let Stmt::Let(_, Rhs::Block(inner), _) = stmt {
                self.block(inner);
            }
        }
        match &mut block.end {
            End::Return(Rhs::Block(inner)) => self.block(inner),
            End::If(test, then, other) => {
                if let Rhs::Block(inner) = test {
                    self.block(inner);
                }
                self.block(then);
                self.block(other);
            }
            End::Loops(labels, body) => {
                labels.iter_mut().for_each(|label| self.block(&mut label.body));
                self.block(body);
            }
            End::Return(_) | End::Go(..) => {}
        }
        let edits = self.edits.remove(&std::ptr::from_ref(&*block)).unwrap_or_default();
        if edits.is_empty() {
            return;
        }
        let mut new = Vec::new();
        let count = block.stmts.len();
        let mut old = std::mem::take(&mut block.stmts).into_iter();
        for i in 0..=count {
            let stmt = old.next();
            // What ends comes before what begins; and a number is kept right before it is stored.
            new.extend(edits.iter().filter_map(|edit| match edit {
                Edit::Release(at, id, numbers) if *at == i => {
                    Some(Stmt::Scope(Step::Release(*id, numbers.clone())))
                }
                _ => None,
            }));
            for edit in &edits {
                match edit {
                    Edit::Turns(at, id) if *at == i => new.push(Stmt::Scope(Step::Turns(*id))),
                    Edit::Again(at, id) if *at == i => new.push(Stmt::Scope(Step::Again(*id))),
                    Edit::Mark(at, id) if *at == i => new.push(Stmt::Scope(Step::Mark(*id))),
                    Edit::Keep(at) if *at == i => {
                        let rhs = match (&stmt, &block.end) {
                            (Some(Stmt::Let(_, rhs, _)), _) | (None, End::Return(rhs)) => rhs,
                            _ => continue,
                        };
                        new.extend(stored(rhs).map(|atom| Stmt::Scope(Step::Keep(atom))));
                    }
                    _ => {}
                }
            }
            new.extend(stmt);
        }
        block.stmts = new;
        for edit in edits {
            if let Edit::Result(id, looked_at) = edit {
                self.result(block, id, looked_at);
            }
        }
    }

    /// Names a result, so that a scope ends between computing it and giving it back.
    fn result(&mut self, block: &mut Block, id: u32, looked_at: bool) {
        let End::Return(rhs) = &mut block.end else { return };
        let var = match rhs {
            Rhs::Atom(Atom::Local(var)) => *var,
            rhs => {
                let var = self.program.var("result");
                if matches!(rhs, Rhs::Prim(prim, ..) if prim.gives_raw()) {
                    self.raw.insert(var);
                }
                let rhs = std::mem::replace(rhs, Rhs::Atom(Atom::Local(var)));
                block.stmts.push(Stmt::Let(Some(var), rhs, Vec::new()));
                var
            }
        };
        let numbers = if looked_at { vec![var] } else { Vec::new() };
        block.stmts.push(Stmt::Scope(Step::Release(id, numbers)));
    }
}

/// The number that is stored.
fn stored(rhs: &Rhs) -> Option<Atom> {
    match rhs {
        Rhs::SetGlobal(_, atom, _) => Some(atom.clone()),
        Rhs::Prim(prim, all, _) => match prim.stores {
            Stores::Into(which) => all.get(which[0]).cloned(),
            _ => None,
        },
        _ => None,
    }
}
