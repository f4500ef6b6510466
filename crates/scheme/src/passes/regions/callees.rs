//! Which procedures a call may reach that does not name one: control-flow analysis of the whole program.
//!
//! Each local, result and global has the set of procedures that it may be. What lies in objects is told apart by nobody: it
//! is one set, [`Callee::Stored`]. All sets begin empty and grow until nothing changes. The program is known as a whole, so
//! that a call whose set is empty has nothing to call, and ends with an error.

use super::ClauseId;
use crate::core::{Global, Program, Var};
use crate::effects::Gives;
use crate::prims::Prim;
use crate::straight::{Atom, Block, End, Flow, ProcId, Rhs, Stmt};
use std::collections::{BTreeSet, HashMap};

/// What a call may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Callee {
    /// A procedure of the program.
    Proc(ProcId),
    /// A primitive.
    Prim(&'static Prim),
    /// A continuation.
    Continuation,
    /// Whatever lies in an object.
    Stored,
}

/// What a value may be, where it is called.
pub(super) type Set = BTreeSet<Callee>;

/// What each value of the program may be, where it is called.
#[derive(Debug, Default)]
pub(super) struct Callees {
    locals: HashMap<Var, Set>,
    results: HashMap<ClauseId, Set>,
    globals: HashMap<Global, Set>,
    stored: Set,
}

impl Callees {
    /// What a call of this may reach: procedures, primitives and continuations.
    pub(super) fn of(&self, atom: &Atom, flow: &Flow) -> Set {
        self.plain(self.atom(atom, flow))
    }

    fn atom(&self, atom: &Atom, flow: &Flow) -> Set {
        match atom {
            Atom::Local(var) => match flow.proc_of.get(var) {
                Some(id) => Set::from([Callee::Proc(*id)]),
                None => self.locals.get(var).cloned().unwrap_or_default(),
            },
            Atom::Proc(id) => Set::from([Callee::Proc(*id)]),
            Atom::PrimValue(prim) => Set::from([Callee::Prim(prim)]),
            Atom::Const(_) => Set::new(),
        }
    }

    /// The set with what lies in objects in place of its name.
    fn plain(&self, mut set: Set) -> Set {
        if set.remove(&Callee::Stored) {
            set.extend(&self.stored);
        }
        set
    }
}

/// The clause that takes so many arguments.
pub(super) fn clause_for(flow: &Flow, id: ProcId, count: usize) -> Option<ClauseId> {
    let takes = |code: &crate::straight::Code| {
        if code.rest { code.params.len() <= count + 1 } else { code.params.len() == count }
    };
    Some((id, flow.procs[id.0 as usize].clauses.iter().position(takes)?))
}

/// Analyses a program; `labels` has the parameters of its labels.
pub(super) fn run(program: &Program, flow: &Flow, labels: &HashMap<Var, Vec<Var>>) -> Callees {
    let mut pass = Pass { flow, labels, found: Callees::default(), grown: true };
    while std::mem::take(&mut pass.grown) {
        // The run-time library calls its hooks with what failed.
        for id in program.hooks.iter().filter_map(|(_, global)| flow.known.get(global)) {
            pass.applied(Callee::Proc(*id), &Set::from([Callee::Stored]));
        }
        for clause in super::clauses(flow) {
            let ends = pass.block(super::body(flow, clause));
            pass.grown |= add(pass.found.results.entry(clause).or_default(), &ends);
        }
        flow.tops.iter().for_each(|top| {
            pass.block(top);
        });
    }
    pass.found
}

/// Adds to a set; says whether it grew.
fn add(to: &mut Set, more: &Set) -> bool {
    let before = to.len();
    to.extend(more);
    to.len() != before
}

struct Pass<'a> {
    flow: &'a Flow,
    labels: &'a HashMap<Var, Vec<Var>>,
    found: Callees,
    grown: bool,
}

impl Pass<'_> {
    fn atom(&self, atom: &Atom) -> Set {
        self.found.atom(atom, self.flow)
    }

    fn grow(&mut self, var: Var, by: &Set) {
        self.grown |= add(self.found.locals.entry(var).or_default(), by);
    }

    fn store(&mut self, value: &Set) {
        let plain: Set = value.iter().filter(|one| **one != Callee::Stored).copied().collect();
        self.grown |= add(&mut self.found.stored, &plain);
    }

    /// Goes through a block; gives what its value may be.
    fn block(&mut self, block: &Block) -> Set {
        for stmt in &block.stmts {
            if let Stmt::Let(var, rhs, _) = stmt {
                let is = self.rhs(rhs);
                if let Some(var) = var {
                    self.grow(*var, &is);
                }
            }
        }
        match &block.end {
            End::Return(rhs) => self.rhs(rhs),
            End::If(test, then, other) => {
                self.rhs(test);
                let mut is = self.block(then);
                is.extend(self.block(other));
                is
            }
            End::Loops(labels, body) => {
                let mut is = self.block(body);
                labels.iter().for_each(|label| is.extend(self.block(&label.body)));
                is
            }
            End::Go(label, all) => {
                for (param, atom) in self.labels.get(label).into_iter().flatten().zip(all) {
                    let is = self.atom(atom);
                    self.grow(*param, &is);
                }
                Set::new()
            }
        }
    }

    fn rhs(&mut self, rhs: &Rhs) -> Set {
        match rhs {
            Rhs::Atom(atom) => self.atom(atom),
            Rhs::Prim(prim, all, _) => {
                let given: Vec<Set> = all.iter().map(|atom| self.atom(atom)).collect();
                self.prim(prim, &given)
            }
            Rhs::Call(_, Some(clause), all, _) => {
                let given: Vec<Set> = all.iter().map(|atom| self.atom(atom)).collect();
                self.clause(*clause, &given)
            }
            Rhs::Call(operator, None, all, _) => {
                let given: Vec<Set> = all.iter().map(|atom| self.atom(atom)).collect();
                let mut is = Set::new();
                for callee in self.found.of(operator, self.flow) {
                    is.extend(self.call(callee, &given));
                }
                is
            }
            Rhs::Global(global) => self.found.globals.get(global).cloned().unwrap_or_default(),
            Rhs::SetGlobal(global, atom, _) => {
                let is = self.atom(atom);
                self.grown |= add(self.found.globals.entry(*global).or_default(), &is);
                Set::new()
            }
            Rhs::Block(block) => self.block(block),
        }
    }

    /// What a primitive is given may lie in what it makes, and in the condition that it raises.
    fn prim(&mut self, prim: &Prim, given: &[Set]) -> Set {
        match prim.gives {
            Gives::Same(i) => return given.get(i).cloned().unwrap_or_default(),
            Gives::Immediate if prim.is_truth() && !prim.fails() => return Set::new(),
            _ => given.iter().for_each(|is| self.store(is)),
        }
        match prim.gives {
            Gives::Immediate | Gives::Number | Gives::Leaf | Gives::Never => Set::new(),
            _ => Set::from([Callee::Stored]),
        }
    }

    /// A call of a clause, whose last parameter may take all that is left as a list.
    fn clause(&mut self, clause: ClauseId, given: &[Set]) -> Set {
        let code = &self.flow.procs[clause.0.0 as usize].clauses[clause.1];
        for (param, is) in code.params.iter().zip(given) {
            self.grow(*param, is);
        }
        if code.rest {
            given.iter().skip(code.params.len() - 1).for_each(|is| self.store(is));
        }
        self.found.results.get(&clause).cloned().unwrap_or_default()
    }

    fn call(&mut self, callee: Callee, given: &[Set]) -> Set {
        match callee {
            Callee::Proc(id) => match clause_for(self.flow, id, given.len()) {
                Some(clause) => self.clause(clause, given),
                None => Set::new(),
            },
            Callee::Prim(prim) if prim.is_value() => self.control(prim, given),
            Callee::Prim(prim) => self.prim(prim, given),
            Callee::Continuation => {
                given.iter().for_each(|is| self.store(is));
                Set::new()
            }
            Callee::Stored => unreachable!("sets of callees are plain"),
        }
    }

    /// `apply`, `%callcc` and `%callec`.
    fn control(&mut self, prim: &Prim, given: &[Set]) -> Set {
        let Some((procedure, rest)) = given.split_first() else { return Set::new() };
        let mut is = Set::from([Callee::Stored]);
        if prim.name == "apply" {
            rest.iter().for_each(|is| self.store(is));
            for callee in self.found.plain(procedure.clone()) {
                is.extend(self.applied(callee, &Set::from([Callee::Stored])));
            }
        } else {
            // What a continuation is given comes out of the call that made it.
            for callee in self.found.plain(procedure.clone()) {
                is.extend(self.call(callee, &[Set::from([Callee::Continuation])]));
            }
        }
        is
    }

    /// A call with any number of arguments, each of which may be any of these.
    fn applied(&mut self, callee: Callee, given: &Set) -> Set {
        self.store(given);
        match callee {
            Callee::Proc(id) => {
                let mut is = Set::new();
                for clause in 0..self.flow.procs[id.0 as usize].clauses.len() {
                    let count = self.flow.procs[id.0 as usize].clauses[clause].params.len();
                    is.extend(self.clause((id, clause), &vec![given.clone(); count]));
                }
                is
            }
            Callee::Prim(prim) if prim.is_value() => {
                // It calls what it finds, with what it finds, or with a continuation.
                self.store(&Set::from([Callee::Continuation]));
                for callee in self.found.stored.clone() {
                    if let Callee::Proc(_) = callee {
                        let is = self.applied(callee, &Set::from([Callee::Stored]));
                        self.store(&is);
                    }
                }
                Set::from([Callee::Stored])
            }
            Callee::Prim(_) | Callee::Stored => Set::from([Callee::Stored]),
            Callee::Continuation => Set::new(),
        }
    }
}
