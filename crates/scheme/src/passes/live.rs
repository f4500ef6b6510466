//! Liveness: which locals are needed after a call.
//!
//! ```text
//! takes  straight-line code with captures
//! gives  the same, where each call and each label lists the locals that are alive after or at it
//! ```
//! Those are the roots, if they may be objects: a call may move all of these, so they are stored on the stack before it and loaded
//! after it, and nothing else is. Captured locals are alive as long as the closure itself, [`SELF`]. A call that can come to no
//! safe point moves nothing, and lists none.

use crate::core::Var;
use crate::straight::{
    Atom, Block, Code, End, Flow, ProcId, Rhs, Step, Stmt, each_rhs, takes_memory,
};
use std::collections::{BTreeSet, HashMap, HashSet};

/// The closure of the procedure that runs.
pub const SELF: Var = Var(u32::MAX);

type Set = BTreeSet<Var>;

/// Fills in what is alive.
pub fn run(flow: &mut Flow) {
    flow.quiet = quiet(flow);
    let quiet = &flow.quiet;
    let is_open = |id: &ProcId| flow.procs[id.0 as usize].open;
    let closed = flow.proc_of.iter().filter(|(_, id)| !is_open(id)).map(|(var, _)| *var).collect();
    let never: HashSet<Var> = flow.raw.union(&flow.immediate).copied().collect();
    let captures: Vec<Vec<Var>> = flow.procs.iter().map(|proc| proc.free.clone()).collect();
    for proc in &mut flow.procs {
        let mut captured: HashSet<Var> = proc.free.iter().copied().collect();
        captured.extend(proc.var);
        let mut pass = Live {
            captures: &captures,
            quiet,
            closed: &closed,
            never: &never,
            captured,
            at_label: HashMap::new(),
        };
        for Code { body, .. } in &mut proc.clauses {
            pass.block(body, &Set::new());
        }
    }
    let captured = HashSet::new();
    let mut pass = Live {
        captures: &captures,
        quiet,
        closed: &closed,
        never: &never,
        captured,
        at_label: HashMap::new(),
    };
    for top in &mut flow.tops {
        pass.block(top, &Set::new());
    }
}

/// Clauses that take no memory, and call only such clauses: the greatest solution.
fn quiet(flow: &Flow) -> HashSet<(ProcId, usize)> {
    let mut quiet = HashSet::new();
    for (i, proc) in flow.procs.iter().enumerate() {
        for (c, code) in proc.clauses.iter().enumerate() {
            if !code.rest && !takes_memory(&code.body, flow) {
                quiet.insert((ProcId(i as u32), c));
            }
        }
    }
    loop {
        let before = quiet.len();
        let known = quiet.clone();
        quiet.retain(|(id, c)| {
            let mut fine = true;
            each_rhs(&flow.procs[id.0 as usize].clauses[*c].body, &mut |rhs| {
                if let Rhs::Call(_, called, ..) = rhs {
                    fine &= called.is_some_and(|called| known.contains(&called));
                }
            });
            fine
        });
        if quiet.len() == before {
            return quiet;
        }
    }
}

struct Live<'a> {
    captures: &'a [Vec<Var>],
    quiet: &'a HashSet<(ProcId, usize)>,
    /// Locals that are constants.
    closed: &'a HashSet<Var>,
    /// Locals that are never objects.
    never: &'a HashSet<Var>,
    /// Locals that lie in the closure.
    captured: HashSet<Var>,
    at_label: HashMap<Var, Set>,
}

impl Live<'_> {
    /// What is alive before a block, when `after` is alive after it.
    fn block(&mut self, block: &mut Block, after: &Set) -> Set {
        let mut live = match &mut block.end {
            End::Return(rhs) => {
                let mut live = after.clone();
                self.rhs(rhs, &mut live);
                live
            }
            End::If(test, then, other) => {
                let mut live = self.block(then, after);
                live.extend(self.block(other, after));
                self.rhs(test, &mut live);
                live
            }
            End::Loops(labels, body) => {
                loop {
                    let mut changed = false;
                    for label in labels.iter_mut() {
                        let mut live = self.block(&mut label.body, after);
                        label.params.iter().for_each(|p| {
                            live.remove(p);
                        });
                        let old = self.at_label.entry(label.name).or_default();
                        if *old != live {
                            *old = live;
                            changed = true;
                        }
                    }
                    if !changed {
                        break;
                    }
                }
                for label in labels {
                    let mut live = self.at_label[&label.name].clone();
                    let is_value = |param: &Var| !self.never.contains(param);
                    live.extend(label.params.iter().copied().filter(is_value));
                    label.live = live.into_iter().collect();
                }
                self.block(body, after)
            }
            End::Go(label, arguments) => {
                let mut live = self.at_label.get(label).cloned().unwrap_or_default();
                arguments.iter().for_each(|a| self.atom(a, &mut live));
                live
            }
        };
        for stmt in block.stmts.iter_mut().rev() {
            match stmt {
                Stmt::Let(var, rhs, needed) => {
                    if let Some(var) = var {
                        live.remove(var);
                    }
                    if let Rhs::Call(_, called, ..) = rhs {
                        let is_quiet = called.is_some_and(|called| self.quiet.contains(&called));
                        let kept = live.iter().copied().filter(|_| !is_quiet);
                        *needed = kept.collect();
                    }
                    self.rhs(rhs, &mut live);
                }
                Stmt::Scope(Step::Mark(_) | Step::Turns(_) | Step::Again(_)) => {}
                Stmt::Scope(Step::Release(_, numbers)) => {
                    numbers.iter().for_each(|var| self.var(*var, &mut live));
                }
                Stmt::Scope(Step::Keep(atom)) => self.atom(atom, &mut live),
                Stmt::Closures(all) => {
                    for (_, id) in all.iter() {
                        for var in &self.captures[id.0 as usize] {
                            self.var(*var, &mut live);
                        }
                    }
                    for (var, _) in all {
                        live.remove(var);
                    }
                }
            }
        }
        live
    }

    fn rhs(&mut self, rhs: &mut Rhs, live: &mut Set) {
        match rhs {
            Rhs::Atom(atom) | Rhs::SetGlobal(_, atom, _) => self.atom(atom, live),
            Rhs::Prim(_, all, _) => all.iter().for_each(|a| self.atom(a, live)),
            Rhs::Call(operator, _, all, _) => {
                self.atom(operator, live);
                all.iter().for_each(|a| self.atom(a, live));
            }
            Rhs::Global(_) => {}
            Rhs::Block(block) => *live = self.block(block, live),
        }
    }

    fn atom(&self, atom: &Atom, live: &mut Set) {
        if let Atom::Local(var) = atom {
            self.var(*var, live);
        }
    }

    fn var(&self, var: Var, live: &mut Set) {
        if self.closed.contains(&var) {
            return;
        }
        // What is captured is read from the closure, whatever its type.
        if self.captured.contains(&var) {
            live.insert(SELF);
        } else if !self.never.contains(&var) {
            live.insert(var);
        }
    }
}
