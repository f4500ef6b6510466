//! Where scopes begin and end.
//!
//! Inner blocks come first, so that a loop's turn or a branch drops what it makes itself, and a procedure does so
//! rather than its callers. What a block then still leaves behind begins a scope, if every path from there
//! comes to a place where all that was made is out of use. A procedure that leaves nothing behind is no reason for a scope.
//! Whether it does so depends on what it calls: at first none does, and more do until nothing changes.

use super::calls::Target;
use super::origins::{FRESH, NUMBER};
use super::walk::{Known, Walk};
use super::{Cause, ClauseId, Fate, Regions, Why, body, clauses};
use crate::core::Var;
use crate::straight::{Block, End, Rhs, Stmt, each_block, each_rhs};
use allod_scheme_datum::Place;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// A change of a block.
#[derive(Clone, Debug)]
pub(super) enum Edit {
    /// A scope begins before this step.
    Mark(usize, u32),
    /// A scope ends before this step, if these locals are no objects.
    Release(usize, u32, Vec<Var>),
    /// The scope that turns share is declared before this step.
    Turns(usize, u32),
    /// Its mark is taken before this step.
    Again(usize, u32),
    /// A scope ends after the result has been computed; if that is no object, where it may be one.
    Result(u32, bool),
    /// What this step stores, or the end where there is no such step, is a number that may be an object.
    Keep(usize),
}

/// The changes of all blocks, by their addresses.
pub(super) type Edits = HashMap<*const Block, Vec<Edit>>;

/// More numbers than these are not looked at.
const LOOKED_AT: usize = 3;

/// Decides where scopes begin and end.
pub(super) fn run(known: &Known<'_>) -> (Edits, Regions) {
    let mut dirty = HashSet::new();
    let mut uses = HashMap::new();
    loop {
        let before = dirty.len();
        let mut pass = Pass::new(known, &dirty, uses);
        let mut found = Vec::new();
        for clause in clauses(known.flow) {
            if pass.block(body(known.flow, clause)) {
                found.push(clause);
            }
        }
        known.flow.tops.iter().for_each(|top| {
            pass.block(top);
        });
        let Pass { edits, regions, uses: seen, scopes, .. } = pass;
        uses = seen;
        dirty.extend(found);
        if dirty.len() == before {
            let mut edits = edits;
            if scopes > 0 {
                keep(known, &mut edits);
            }
            return (edits, regions);
        }
    }
}

/// Where scopes begin.
pub(super) fn scopes(edits: &Edits) -> HashSet<(*const Block, usize)> {
    let begins = |edit: &Edit| match edit {
        Edit::Mark(at, _) | Edit::Turns(at, _) => Some(*at),
        _ => None,
    };
    let within = |(block, all): (&*const Block, &Vec<Edit>)| -> Vec<_> {
        all.iter().filter_map(begins).map(|at| (*block, at)).collect()
    };
    edits.iter().flat_map(within).collect()
}

/// Looks at the numbers that are stored.
fn keep(known: &Known<'_>, edits: &mut Edits) {
    let kept =
        |rhs: &Rhs| known.kept.as_ref().is_some_and(|kept| kept.contains(&std::ptr::from_ref(rhs)));
    for root in super::roots(known.flow) {
        each_block(root, &mut |block| {
            let mut add = |i| edits.entry(block).or_default().push(Edit::Keep(i));
            for (i, stmt) in block.stmts.iter().enumerate() {
                if let Stmt::Let(_, rhs, _) = stmt
                    && kept(rhs)
                {
                    add(i);
                }
            }
            if let End::Return(rhs) = &block.end
                && kept(rhs)
            {
                add(block.stmts.len());
            }
        });
    }
}

/// For each local of a block the last step that names it; the end is one more.
pub(super) type Uses = Rc<HashMap<Var, usize>>;

pub(super) struct Pass<'a> {
    pub(super) known: &'a Known<'a>,
    /// Clauses that leave something behind.
    dirty: &'a HashSet<ClauseId>,
    uses: HashMap<*const Block, Uses>,
    pub(super) edits: Edits,
    pub(super) regions: Regions,
    pub(super) scopes: u32,
    /// Blocks with a step that leaves something behind.
    pub(super) left: HashSet<*const Block>,
    /// Blocks that end with loops whose turns share a scope that begins before the loops.
    pub(super) early: HashSet<*const Block>,
}

/// A scope that may come to be.
#[derive(Default)]
struct Attempt {
    edits: Vec<(*const Block, Edit)>,
    /// Places where objects are made in it.
    sites: Vec<Place>,
    /// The step after it, where it ends in the block in which it began.
    next: Option<usize>,
    /// Why it cannot be.
    why: Option<Why>,
}

impl Attempt {
    fn fails(&mut self, why: Why) -> bool {
        self.why.get_or_insert(why);
        false
    }
}

impl<'a> Pass<'a> {
    fn new(
        known: &'a Known<'a>,
        dirty: &'a HashSet<ClauseId>,
        uses: HashMap<*const Block, Uses>,
    ) -> Pass<'a> {
        let (edits, regions) = (Edits::new(), Regions::default());
        let (left, early) = (HashSet::new(), HashSet::new());
        Pass { known, dirty, uses, edits, regions, scopes: 0, left, early }
    }

    /// Places scopes in a block; says whether it leaves something behind.
    fn block(&mut self, block: &Block) -> bool {
        let leaves: Vec<bool> = block.stmts.iter().map(|stmt| self.stmt(stmt)).collect();
        let (test, mut dirty) = match &block.end {
            End::Return(rhs) => (self.rhs(rhs), false),
            End::If(test, then, other) => (self.rhs(test), self.block(then) | self.block(other)),
            End::Loops(labels, body) => {
                let within = labels.iter().fold(false, |dirty, l| self.block(&l.body) | dirty);
                let before = self.block(body);
                if within {
                    self.turns(block, labels, body);
                }
                (false, before | within)
            }
            End::Go(..) => (false, false),
        };
        let mut i = 0;
        while i <= leaves.len() {
            if !leaves.get(i).copied().unwrap_or(test) {
                i += 1;
                continue;
            }
            match self.scope(block, i) {
                Ok(next) => i = next,
                Err(why) => {
                    let mut sites = Vec::new();
                    match block.stmts.get(i) {
                        Some(stmt) => self.sites_in(stmt, &mut sites),
                        None => {
                            if let End::Return(rhs) | End::If(rhs, ..) = &block.end {
                                self.sites(rhs, &mut sites);
                            }
                        }
                    }
                    for site in sites {
                        self.regions.fates.entry(site).or_insert(Fate::Moved(why));
                    }
                    self.left.insert(block);
                    dirty = true;
                    i += 1;
                }
            }
        }
        dirty
    }

    /// Whether a step leaves something behind.
    fn stmt(&mut self, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Let(_, rhs, _) => self.rhs(rhs),
            Stmt::Closures(all) => {
                all.iter().any(|(_, id)| self.known.flow.procs[id.0 as usize].open)
            }
            Stmt::Scope(_) => false,
        }
    }

    fn rhs(&mut self, rhs: &Rhs) -> bool {
        match rhs {
            Rhs::Block(block) => self.block(block),
            Rhs::Prim(prim, ..) => prim.makes(),
            Rhs::Call(operator, None, all, _) => {
                self.known.targets(operator, all).iter().any(|target| match target {
                    Target::Clause(clause) | Target::Applied(clause) => {
                        self.takes_a_list(*clause) || self.dirty.contains(clause)
                    }
                    Target::Prim(prim) | Target::AppliedPrim(prim) => prim.makes(),
                    Target::Unknown => true,
                })
            }
            Rhs::Call(_, Some(clause), ..) => self.dirty.contains(clause),
            Rhs::Atom(_) | Rhs::Global(_) | Rhs::SetGlobal(..) => false,
        }
    }

    /// Whether a call through a value makes a list of arguments.
    fn takes_a_list(&self, (id, clause): ClauseId) -> bool {
        self.known.flow.procs[id.0 as usize].clauses[clause].rest
    }

    /// Where objects are made.
    pub(super) fn sites(&self, rhs: &Rhs, found: &mut Vec<Place>) {
        let mut one = |rhs: &Rhs| {
            if let Rhs::Prim(prim, _, at) = rhs
                && prim.makes()
            {
                found.push(*at);
            }
        };
        match rhs {
            Rhs::Block(block) => each_rhs(block, &mut one),
            rhs => one(rhs),
        }
    }

    pub(super) fn sites_in(&self, stmt: &Stmt, found: &mut Vec<Place>) {
        match stmt {
            Stmt::Let(_, rhs, _) => self.sites(rhs, found),
            Stmt::Closures(all) => {
                found.extend(all.iter().map(|(_, id)| self.known.flow.procs[id.0 as usize].at));
            }
            Stmt::Scope(_) => {}
        }
    }

    /// Begins a scope before a step, if it can end; gives the step after it.
    fn scope(&mut self, block: &Block, start: usize) -> Result<usize, Why> {
        let mut attempt = Attempt::default();
        let id = self.scopes;
        if !self.seek(block, start, id, true, Walk::scope(self.known), &mut attempt) {
            return Err(attempt
                .why
                .unwrap_or(Why { cause: Cause::Returned, at: Place::default() }));
        }
        if attempt.edits.is_empty() {
            // No path that makes something comes to an end.
            return Ok(block.stmts.len() + 1);
        }
        self.scopes += 1;
        let begins = attempt.sites.iter().find(|at| at.file != 0 && at.line != 0).copied();
        for site in attempt.sites {
            let begins = begins.unwrap_or(site);
            self.regions.fates.entry(site).or_insert(Fate::Dropped(begins));
        }
        self.edits.entry(block).or_default().push(Edit::Mark(start, id));
        for (block, edit) in attempt.edits {
            self.edits.entry(block).or_default().push(edit);
        }
        Ok(attempt.next.unwrap_or(block.stmts.len() + 1))
    }

    /// Walks on from a step until the scope can end, on every path.
    fn seek(
        &mut self,
        block: &Block,
        from: usize,
        id: u32,
        begins: bool,
        mut walk: Walk<'a>,
        attempt: &mut Attempt,
    ) -> bool {
        let uses = self.uses(block);
        for i in from..=block.stmts.len() {
            if !(begins && i == from)
                && let Some(numbers) =
                    out_of_use(&walk, |var| uses.get(var).is_some_and(|last| *last >= i))
            {
                attempt.edits.push((block, Edit::Release(i, id, numbers)));
                if begins {
                    attempt.next = Some(i);
                }
                return true;
            }
            let Some(stmt) = block.stmts.get(i) else { break };
            self.sites_in(stmt, &mut attempt.sites);
            if !walk.stmt(stmt) {
                return true;
            }
            if let Some(why) = walk.done.wild.or(walk.done.leak) {
                return attempt.fails(why);
            }
        }
        match &block.end {
            End::Return(Rhs::Block(inner)) => self.seek(inner, 0, id, false, walk, attempt),
            // What raises an error never comes back.
            End::Return(rhs) if self.known.never_returns(rhs) => true,
            End::Return(Rhs::Call(_, _, _, at)) => {
                attempt.fails(Why { cause: Cause::Passed, at: *at })
            }
            End::Return(rhs) => {
                self.sites(rhs, &mut attempt.sites);
                let ends = walk.rhs(rhs);
                if ends.never() {
                    return true;
                }
                if let Some(why) = walk.done.wild.or(walk.done.leak) {
                    return attempt.fails(why);
                }
                if ends.value & FRESH != 0 || matches!(rhs, Rhs::Atom(_)) {
                    return attempt.fails(Why { cause: Cause::Returned, at: Place::default() });
                }
                let result = Edit::Result(id, ends.value & NUMBER != 0);
                attempt.edits.push((block, result));
                true
            }
            End::If(test, then, other) => {
                self.sites(test, &mut attempt.sites);
                if walk.rhs(test).never() {
                    return true;
                }
                if let Some(why) = walk.done.wild.or(walk.done.leak) {
                    return attempt.fails(why);
                }
                self.seek(then, 0, id, false, walk.clone(), attempt)
                    && self.seek(other, 0, id, false, walk, attempt)
            }
            End::Loops(labels, body) => {
                // What the labels' code names is needed wherever that is gone to.
                let mut named = HashSet::new();
                labels.iter().for_each(|l| super::named(&l.body, self.known.flow, &mut named));
                // A scope that ended in the body would end before that of the turns, which began later.
                let early = self.early.contains(&std::ptr::from_ref(block));
                if early || named.iter().any(|var| walk.is_new(*var)) {
                    return attempt.fails(Why { cause: Cause::Carried, at: Place::default() });
                }
                self.seek(body, 0, id, false, walk, attempt)
            }
            End::Go(..) => attempt.fails(Why { cause: Cause::Carried, at: Place::default() }),
        }
    }

    pub(super) fn uses(&mut self, block: &Block) -> Uses {
        let flow = self.known.flow;
        let make = || {
            let mut last = HashMap::new();
            let mut found = HashSet::new();
            for (i, stmt) in block.stmts.iter().enumerate() {
                super::named_by(stmt, flow, &mut found);
                last.extend(found.drain().map(|var| (var, i)));
            }
            super::named_at_end(&block.end, flow, &mut found);
            last.extend(found.drain().map(|var| (var, block.stmts.len())));
            Rc::new(last)
        };
        self.uses.entry(block).or_insert_with(make).clone()
    }
}

/// Whether nothing that was made is needed, given which locals are; the locals of which the program must
/// find out, because they are numbers.
pub(super) fn out_of_use(walk: &Walk<'_>, needed: impl Fn(&Var) -> bool) -> Option<Vec<Var>> {
    let mut numbers = Vec::new();
    for var in walk.locals.keys().filter(|var| needed(var)) {
        let is = walk.local(*var);
        if is & FRESH != 0 {
            return None;
        }
        if is & NUMBER != 0 {
            numbers.push(*var);
        }
    }
    numbers.sort();
    (numbers.len() <= LOOKED_AT).then_some(numbers)
}
