//! What calls do to the region: of one clause, or of whatever may be called where the program does not say.

use super::callees::{Callee, clause_for};
use super::origins::{FRESH, NUMBER, OLD, Origins};
use super::walk::{Ends, Known, Walk};
use super::{Cause, ClauseId};
use crate::effects::Gives;
use crate::prims::Prim;
use crate::straight::{Atom, Rhs};
use allod_scheme_datum::Place;

/// What a call may come to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Target {
    /// A clause, with the arguments as they are given.
    Clause(ClauseId),
    /// A clause, with arguments out of lists.
    Applied(ClauseId),
    /// A primitive.
    Prim(&'static Prim),
    /// A primitive, with arguments out of lists.
    AppliedPrim(&'static Prim),
    /// A continuation, or what captures one.
    Unknown,
}

impl Known<'_> {
    /// What a call may come to that does not name its clause.
    pub(super) fn targets(&self, operator: &Atom, all: &[Atom]) -> Vec<Target> {
        let flow = self.flow;
        let mut found = Vec::new();
        for callee in self.callees.of(operator, flow) {
            match callee {
                Callee::Proc(id) => {
                    found.extend(clause_for(flow, id, all.len()).map(Target::Clause))
                }
                Callee::Prim(prim) if prim.name == "apply" => {
                    let Some(procedure) = all.first() else { continue };
                    for callee in self.callees.of(procedure, flow) {
                        match callee {
                            Callee::Proc(id) => {
                                let count = flow.procs[id.0 as usize].clauses.len();
                                found.extend((0..count).map(|c| Target::Applied((id, c))));
                            }
                            Callee::Prim(prim) if !prim.is_value() => {
                                found.push(Target::AppliedPrim(prim));
                            }
                            _ => found.push(Target::Unknown),
                        }
                    }
                }
                Callee::Prim(prim) if prim.is_value() => found.push(Target::Unknown),
                Callee::Prim(prim)
                    if prim.takes_any() || (prim.least..=prim.most).contains(&all.len()) =>
                {
                    found.push(Target::Prim(prim));
                }
                Callee::Prim(_) => {}
                Callee::Continuation | Callee::Stored => found.push(Target::Unknown),
            }
        }
        found
    }

    /// Whether no call comes back.
    pub(super) fn never_returns(&self, rhs: &Rhs) -> bool {
        let never =
            |clause: &ClauseId| self.summaries.get(clause).is_none_or(|does| !does.ends.returns);
        match rhs {
            Rhs::Call(_, Some(clause), ..) => never(clause),
            Rhs::Call(operator, None, all, _) => {
                self.targets(operator, all).iter().all(|target| match target {
                    Target::Clause(clause) | Target::Applied(clause) => never(clause),
                    Target::Prim(prim) | Target::AppliedPrim(prim) => prim.gives == Gives::Never,
                    Target::Unknown => false,
                })
            }
            _ => false,
        }
    }
}

impl Walk<'_> {
    /// A call of a clause.
    pub(super) fn call(
        &mut self,
        operator: &Atom,
        clause: ClauseId,
        mut arguments: Vec<Origins>,
        at: Place,
    ) -> Ends {
        if self.known.flow.procs[clause.0.0 as usize].open {
            arguments.insert(0, self.atom(operator));
        }
        let Some(does) = self.known.summaries.get(&clause) else { return Ends::default() };
        if !does.ends.returns {
            return Ends::default();
        }
        if let Some(why) = does.done.wild {
            self.wild(why.cause, why.or(at));
        }
        let value = self.done.heap.call(&does.done.heap, does.ends.value, &arguments);
        self.leaked(at);
        Ends::with(value)
    }

    /// A call of whatever the operator may be: all of it may happen.
    pub(super) fn unknown(&mut self, operator: &Atom, all: &[Atom], at: Place) -> Ends {
        let given = self.atoms(all);
        let known = self.known;
        let mut ends = Ends::default();
        for target in known.targets(operator, all) {
            let one = match target {
                Target::Clause(clause) => {
                    let given = self.spread(clause, given.clone());
                    self.call(operator, clause, given, at)
                }
                Target::Applied(clause) => {
                    let any = self.any(&given);
                    let count =
                        known.flow.procs[clause.0.0 as usize].clauses[clause.1].params.len();
                    let mut arguments = vec![any; count];
                    self.listed(clause, &mut arguments, any);
                    self.call(&all[0], clause, arguments, at)
                }
                Target::Prim(prim) => self.prim(None, prim, &given, at),
                Target::AppliedPrim(prim) => {
                    let any = self.any(&given);
                    self.prim(None, prim, &vec![any; prim.most.min(MOST)], at)
                }
                Target::Unknown => {
                    self.wild(Cause::Continuation, at);
                    Ends::with(FRESH | NUMBER | OLD)
                }
            };
            ends = ends.or(one);
        }
        ends
    }

    /// All that arguments lead to.
    fn any(&self, given: &[Origins]) -> Origins {
        self.done.heap.closure(given.iter().fold(0, |any, one| any | one))
    }

    /// Arguments as a clause takes them: those that have no parameter of their own are a list.
    fn spread(&mut self, clause: ClauseId, mut given: Vec<Origins>) -> Vec<Origins> {
        let code = &self.known.flow.procs[clause.0.0 as usize].clauses[clause.1];
        if code.rest {
            let rest = given.split_off(code.params.len() - 1);
            let any = rest.iter().fold(0, |any, one| any | one);
            given.push(0);
            self.listed(clause, &mut given, any);
        }
        given
    }

    /// The last of the arguments is a new list of these, if the clause takes one.
    fn listed(&mut self, clause: ClauseId, arguments: &mut [Origins], items: Origins) {
        let code = &self.known.flow.procs[clause.0.0 as usize].clauses[clause.1];
        if let Some(last) = arguments.last_mut().filter(|_| code.rest) {
            self.done.heap.store(FRESH, FRESH | items);
            *last = FRESH;
        }
    }
}

/// No primitive tells more arguments apart than these.
const MOST: usize = 8;
