//! What code does to the region, by walking through it.
//!
//! Locals have origins, and the objects of each origin lead to others ([`Heap`]). Both only grow, so that a loop
//! is walked until nothing changes. What a path does that never ends well, because it raises an error, is
//! forgotten: no scope that surrounds it is ever left in the usual way.

use super::callees::Callees;
use super::origins::{CONSTANT, FRESH, Heap, NUMBER, OLD, Origins, argument};
use super::{Cause, ClauseId, Why};
use crate::core::{Const, Global, Var};
use crate::effects::{Gives, Stores};
use crate::prims::Prim;
use crate::straight::{Atom, Block, End, Flow, Label, ProcId, Rhs, Stmt, each_rhs};
use allod_scheme_datum::{Node, Number, Place};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// What a clause does.
#[derive(Clone, PartialEq)]
pub(super) struct Summary {
    pub(super) done: Done,
    pub(super) ends: Ends,
}

/// What is known of the program.
pub(super) struct Known<'a> {
    pub(super) flow: &'a Flow,
    /// Parameters of labels.
    pub(super) labels: Rc<HashMap<Var, Vec<Var>>>,
    pub(super) summaries: HashMap<ClauseId, Summary>,
    /// Globals that are never anything but constants.
    pub(super) constants: Rc<HashSet<Global>>,
    /// What may be called where the program does not say.
    pub(super) callees: Rc<Callees>,
    /// Stores of numbers at which the program does not look.
    pub(super) unkept: HashSet<*const Rhs>,
    /// Stores of numbers and nothing else, by their addresses, once they are known.
    pub(super) kept: Option<HashSet<*const Rhs>>,
    /// Locals that are constants, parts of constants or no objects, wherever a walk begins.
    pub(super) plain: HashMap<Var, Origins>,
}

impl Known<'_> {
    /// The stores of numbers into objects at which the program looks, in its order.
    pub(super) fn stores_kept(&self) -> Vec<*const Rhs> {
        let mut found = Vec::new();
        for root in super::roots(self.flow) {
            each_rhs(root, &mut |rhs| {
                let kept =
                    self.kept.as_ref().is_some_and(|all| all.contains(&std::ptr::from_ref(rhs)));
                if kept && matches!(rhs, Rhs::Prim(..)) {
                    found.push(std::ptr::from_ref(rhs));
                }
            });
        }
        found
    }
}

/// What was done.
#[derive(Clone, PartialEq)]
pub(super) struct Done {
    pub(super) heap: Heap,
    /// Why nothing is known any more.
    pub(super) wild: Option<Why>,
    /// Where something fresh was first stored into what is old.
    pub(super) leak: Option<Why>,
}

/// How code ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ends {
    /// Where its value comes from.
    pub(super) value: Origins,
    /// It ends with a value.
    pub(super) returns: bool,
    /// It goes to a label around it.
    goes: bool,
}

impl Ends {
    pub(super) fn with(value: Origins) -> Ends {
        Ends { value, returns: true, goes: false }
    }

    pub(super) fn or(self, other: Ends) -> Ends {
        Ends {
            value: self.value | other.value,
            returns: self.returns || other.returns,
            goes: self.goes || other.goes,
        }
    }

    pub(super) fn never(self) -> bool {
        !self.returns && !self.goes
    }
}

/// A walk through a clause, or a part of it.
#[derive(Clone)]
pub(super) struct Walk<'a> {
    pub(super) known: &'a Known<'a>,
    /// The procedure whose closure stands for what is captured; none where all that is old is the same.
    own: Option<ProcId>,
    /// Origins of the locals that were met.
    pub(super) locals: HashMap<Var, Origins>,
    pub(super) done: Done,
    /// Labels that were gone to.
    reached: HashSet<Var>,
    /// Blocks that are of no interest.
    skipped: Rc<HashSet<*const Block>>,
    grown: bool,
}

impl<'a> Walk<'a> {
    /// A walk that takes all it has not met for old.
    pub(super) fn scope(known: &'a Known<'a>) -> Walk<'a> {
        let done = Done { heap: Heap::NEW, wild: None, leak: None };
        let (locals, reached) = (HashMap::new(), HashSet::new());
        Walk { known, own: None, locals, done, reached, skipped: Rc::default(), grown: false }
    }

    /// A walk through all turns of loops, without the blocks that are skipped. It begins with the code before the first
    /// turn; without that, with the first turn, which is given what is old.
    pub(super) fn turns(
        known: &'a Known<'a>,
        labels: &[Label],
        before: Option<&Block>,
        skipped: HashSet<*const Block>,
    ) -> Walk<'a> {
        let mut walk = Walk::scope(known);
        walk.skipped = Rc::new(skipped);
        if before.is_none() {
            for label in labels {
                walk.reached.insert(label.name);
                label.params.iter().for_each(|param| walk.grow(*param, OLD));
            }
        }
        walk.loops(labels, before);
        walk
    }

    /// A walk through a clause from its beginning.
    pub(super) fn clause(known: &'a Known<'a>, (id, clause): ClauseId) -> Walk<'a> {
        let proc = &known.flow.procs[id.0 as usize];
        let mut walk = Walk::scope(known);
        walk.own = proc.open.then_some(id);
        let first = usize::from(proc.open);
        for (i, param) in proc.clauses[clause].params.iter().enumerate() {
            walk.grow(*param, argument(first + i));
        }
        walk
    }

    fn grow(&mut self, var: Var, by: Origins) {
        let old = self.locals.entry(var).or_default();
        if *old | by != *old {
            *old |= by;
            self.grown = true;
        }
    }

    pub(super) fn atom(&self, atom: &Atom) -> Origins {
        match atom {
            Atom::Local(var) => self.local(*var),
            Atom::Const(c) if is_object(c) => CONSTANT,
            Atom::Const(_) | Atom::Proc(_) | Atom::PrimValue(_) => 0,
        }
    }

    /// Where a local comes from.
    pub(super) fn local(&self, var: Var) -> Origins {
        let flow = self.known.flow;
        if flow.immediate.contains(&var) || flow.raw.contains(&var) {
            return 0;
        }
        if flow.proc_of.get(&var).is_some_and(|id| !flow.procs[id.0 as usize].open) {
            return 0;
        }
        if let Some(own) = self.own.map(|id| &flow.procs[id.0 as usize]) {
            if own.var == Some(var) {
                return argument(0);
            }
            if own.free.binary_search(&var).is_ok() {
                return self.done.heap.load(argument(0));
            }
        }
        let before = || self.known.plain.get(&var).copied().unwrap_or(OLD);
        self.locals.get(&var).copied().unwrap_or_else(before)
    }

    /// Whether a local may lead to what was made since the walk began.
    pub(super) fn is_new(&self, var: Var) -> bool {
        self.locals.contains_key(&var) && self.local(var) & (FRESH | NUMBER) != 0
    }

    pub(super) fn atoms(&self, all: &[Atom]) -> Vec<Origins> {
        all.iter().map(|atom| self.atom(atom)).collect()
    }

    /// Walks through a block.
    pub(super) fn block(&mut self, block: &Block) -> Ends {
        if self.skipped.contains(&std::ptr::from_ref(block)) {
            return Ends::default();
        }
        for stmt in &block.stmts {
            if !self.stmt(stmt) {
                return Ends::default();
            }
        }
        match &block.end {
            End::Return(rhs) => self.rhs(rhs),
            End::If(test, then, other) => {
                if self.rhs(test).never() {
                    return Ends::default();
                }
                self.path(then).or(self.path(other))
            }
            End::Loops(labels, body) => self.loops(labels, Some(body)),
            End::Go(label, all) => {
                self.grown |= self.reached.insert(*label);
                let params = self.known.labels.get(label);
                for (param, atom) in params.into_iter().flatten().zip(all) {
                    let is = self.atom(atom);
                    self.grow(*param, is);
                }
                Ends { goes: true, ..Ends::default() }
            }
        }
    }

    /// A block that need not be taken: what it does counts only if it ends.
    fn path(&mut self, block: &Block) -> Ends {
        let before = self.done.clone();
        let ends = self.block(block);
        if ends.never() {
            self.done = before;
        }
        ends
    }

    fn loops(&mut self, labels: &[Label], body: Option<&Block>) -> Ends {
        let outer = self.grown;
        let mut grown = false;
        let mut ends = body.map_or_else(Ends::default, |body| self.block(body));
        loop {
            let before = self.done.clone();
            self.grown = false;
            for label in labels {
                if self.reached.contains(&label.name) {
                    ends = ends.or(self.path(&label.body));
                }
            }
            grown |= self.grown;
            if !self.grown && self.done == before {
                self.grown = outer || grown;
                // What goes to a label around these loops is not told apart from what goes round here.
                return ends;
            }
        }
    }

    /// Walks through a step; says whether it ends.
    pub(super) fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let(var, rhs, _) => {
                let ends = self.rhs(rhs);
                if let Some(var) = var {
                    self.grow(*var, ends.value);
                }
                !ends.never()
            }
            Stmt::Closures(all) => {
                let open = |id: &ProcId| self.known.flow.procs[id.0 as usize].open;
                let all: Vec<_> = all.iter().filter(|(_, id)| open(id)).collect();
                for (var, _) in &all {
                    self.grow(*var, FRESH);
                }
                for (_, id) in all {
                    for free in &self.known.flow.procs[id.0 as usize].free {
                        let is = self.local(*free);
                        self.done.heap.store(FRESH, is);
                    }
                }
                true
            }
            Stmt::Scope(_) => true,
        }
    }

    /// Walks through what computes a value.
    pub(super) fn rhs(&mut self, rhs: &Rhs) -> Ends {
        match rhs {
            Rhs::Atom(atom) => Ends::with(self.atom(atom)),
            Rhs::Prim(prim, all, at) => self.prim(Some(rhs), prim, &self.atoms(all), *at),
            Rhs::Call(operator, None, all, at) => self.unknown(operator, all, *at),
            Rhs::Call(operator, Some(clause), all, at) => {
                self.call(operator, *clause, self.atoms(all), *at)
            }
            Rhs::Global(global) if self.known.constants.contains(global) => Ends::with(CONSTANT),
            Rhs::Global(_) => Ends::with(self.done.heap.load(OLD)),
            Rhs::SetGlobal(_, atom, _) => {
                let value = self.stored(rhs, self.atom(atom));
                self.store(OLD, value, Place::default());
                Ends::with(0)
            }
            Rhs::Block(block) => self.block(block),
        }
    }

    pub(super) fn wild(&mut self, cause: Cause, at: Place) {
        self.done.wild.get_or_insert(Why { cause, at });
    }

    fn store(&mut self, into: Origins, value: Origins, at: Place) {
        self.done.heap.store(into, value);
        self.leaked(at);
    }

    pub(super) fn leaked(&mut self, at: Place) {
        if self.done.leak.is_none() && self.done.heap.leaks() {
            self.done.leak = Some(Why { cause: Cause::Stored, at });
        }
    }

    /// A value as it is stored: a number is looked at when the program runs. While clauses are walked through
    /// as a whole it is not known yet which stores are of numbers only.
    fn stored(&self, rhs: &Rhs, value: Origins) -> Origins {
        let kept = match &self.known.kept {
            Some(kept) => kept.contains(&std::ptr::from_ref(rhs)),
            None => value == NUMBER && !self.known.unkept.contains(&std::ptr::from_ref(rhs)),
        };
        if kept { 0 } else { value }
    }

    /// Finds the stores of numbers in what was walked through.
    pub(super) fn numbers_stored(&self, block: &Block, found: &mut HashSet<*const Rhs>) {
        each_rhs(block, &mut |rhs| {
            let value = match rhs {
                Rhs::SetGlobal(_, atom, _) => Some(atom),
                Rhs::Prim(prim, all, _) => match prim.stores {
                    Stores::Into(which) => all.get(which[0]),
                    _ => None,
                },
                _ => None,
            };
            let unkept = self.known.unkept.contains(&std::ptr::from_ref(rhs));
            if !unkept && value.is_some_and(|atom| self.atom(atom) == NUMBER) {
                found.insert(std::ptr::from_ref(rhs));
            }
        });
    }

    /// A primitive's work. Only where the program names the primitive a number that it stores is looked at.
    pub(super) fn prim(
        &mut self,
        named: Option<&Rhs>,
        prim: &Prim,
        is: &[Origins],
        at: Place,
    ) -> Ends {
        let any = is.iter().fold(0, |any, one| any | one);
        match prim.stores {
            Stores::Nothing | Stores::Text => {}
            Stores::Into(which) => {
                let value = which.iter().fold(0, |value, i| value | is[*i]);
                let value = named.map_or(value, |rhs| self.stored(rhs, value));
                self.store(is[0], value, at);
            }
            Stores::Part(i) => self.store(is[0], self.done.heap.load(is[i]), at),
            Stores::Deep => {
                let all = self.done.heap.closure(any);
                self.store(all, all, at);
            }
            Stores::Global => self.store(OLD, any, at),
            Stores::Outside => self.wild(Cause::Outside, at),
        }
        let heap = &mut self.done.heap;
        let nth = |i: usize| is.get(i).copied().unwrap_or(0);
        Ends::with(match prim.gives {
            Gives::Never => return Ends::default(),
            Gives::Immediate => 0,
            Gives::Number => NUMBER,
            Gives::Same(i) => nth(i),
            Gives::Part(i) => heap.load(nth(i)),
            Gives::Deep(i) => heap.closure(nth(i)),
            Gives::Holder => {
                heap.store(FRESH, any);
                FRESH
            }
            Gives::Record => {
                // A type that is older than the record stays, and what is read from the record is never the type.
                let fields = is.iter().skip(1).fold(nth(0) & !OLD, |any, one| any | one);
                heap.store(FRESH, fields);
                FRESH
            }
            Gives::Chain => {
                heap.store(FRESH, FRESH | any);
                FRESH
            }
            Gives::Leaf => FRESH,
            Gives::Global => heap.load(OLD),
            Gives::Anything => {
                let all = heap.closure(any);
                heap.store(FRESH, FRESH | NUMBER | all);
                FRESH | NUMBER | all
            }
        })
    }
}

/// Whether a constant is an object.
fn is_object(c: &Const) -> bool {
    let Const::Datum(datum) = c else { return false };
    match &datum.node {
        Node::Bool(_) | Node::Char(_) | Node::Symbol(_) => false,
        Node::Number(Number::Int(i)) => i64::try_from(i).is_err(),
        Node::List(items, tail) => !items.is_empty() || tail.is_some(),
        _ => true,
    }
}
