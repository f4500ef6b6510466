//! One walk through all code that may run: types grow, or in the last walk code changes.

use super::branch::{Asked, Path, learn};
use super::lattice::kind::*;
use super::lattice::{LEN_MAX, Type};
use super::specialise::{Locals, small};
use super::{Types, prims, specialise};
use crate::core::{Global, Program, Var};
use crate::prims::Prim;
use crate::straight::{Atom, Block, End, Flow, ProcId, Rhs, Stmt};
use std::collections::HashMap;

pub(super) struct Walk<'p> {
    program: &'p mut Program,
    flow: &'p mut Flow,
    pub(super) types: Types,
    /// Locals that hold the value of a global, which always has the same.
    globals: HashMap<Var, Global>,
    params: HashMap<Var, Vec<Var>>,
    changed: bool,
    /// This is the last walk.
    last: bool,
}

impl<'p> Walk<'p> {
    pub(super) fn new(program: &'p mut Program, flow: &'p mut Flow, types: Types) -> Walk<'p> {
        Walk {
            program,
            flow,
            types,
            globals: HashMap::new(),
            params: HashMap::new(),
            changed: false,
            last: false,
        }
    }

    /// Walks once; says whether a type has grown.
    pub(super) fn round(&mut self, last: bool) -> bool {
        (self.changed, self.last) = (false, last);
        for i in 0..self.flow.tops.len() {
            let mut block = self.flow.tops[i].take();
            self.block(&mut block, &mut Path::new());
            self.flow.tops[i] = block;
        }
        for i in 0..self.flow.procs.len() {
            for c in 0..self.flow.procs[i].clauses.len() {
                if !self.types.reached[i][c] {
                    continue;
                }
                let mut block = self.flow.procs[i].clauses[c].body.take();
                let result = self.block(&mut block, &mut Path::new());
                self.flow.procs[i].clauses[c].body = block;
                let id = (ProcId(i as u32), c);
                grow(self.types.results.entry(id).or_insert(Type::NONE), result, &mut self.changed);
            }
        }
        self.changed
    }

    /// A procedure is a value: it may be called with anything.
    pub(super) fn escape(&mut self, id: ProcId) {
        let i = id.0 as usize;
        if std::mem::replace(&mut self.types.escaped[i], true) {
            return;
        }
        self.changed = true;
        self.types.reached[i].fill(true);
        for clause in &self.flow.procs[i].clauses {
            for param in &clause.params {
                self.types.vars.insert(*param, Type::ANY);
            }
        }
    }

    fn grow(&mut self, var: Var, by: Type) {
        grow(self.types.vars.entry(var).or_insert(Type::NONE), by, &mut self.changed);
    }

    fn atom(&mut self, atom: &Atom, path: &Path) -> Type {
        match atom {
            Atom::Local(var) => {
                if let Some(id) = self.flow.proc_of.get(var) {
                    self.escape(*id);
                    return Type::of(PROCEDURE);
                }
                path.get(var).copied().unwrap_or_else(|| self.types.var(*var))
            }
            Atom::Const(c) => Type::constant(c),
            Atom::Proc(id) => {
                self.escape(*id);
                Type::of(PROCEDURE)
            }
            Atom::PrimValue(_) => Type::of(PROCEDURE),
        }
    }

    /// What a test asks.
    fn asked(&mut self, test: &Rhs, path: &Path) -> Asked {
        match test {
            Rhs::Atom(Atom::Local(var)) if !self.flow.proc_of.contains_key(var) => {
                Asked::Truth(*var)
            }
            Rhs::Prim(prim, all, _) if prim.is_truth() => {
                let all = all.iter().map(|a| (a.clone(), self.atom(a, path))).collect();
                Asked::Prim(prim.name, all)
            }
            _ => Asked::Nothing,
        }
    }

    /// The type of what a block gives. Nothing that follows what never ends is looked at.
    fn block(&mut self, block: &mut Block, path: &mut Path) -> Type {
        let mut done = Vec::new();
        let mut stmts = std::mem::take(&mut block.stmts).into_iter();
        while let Some(mut stmt) = stmts.next() {
            let mut ends = true;
            match &mut stmt {
                Stmt::Let(var, rhs, _) => {
                    if let (Some(var), Rhs::Prim(prim, all, _)) = (&var, &*rhs)
                        && prim.name == "%box"
                    {
                        let content = self.atom(&all[0], path);
                        self.fill_box(*var, content);
                    }
                    if let (Some(var), Rhs::Global(global)) = (&var, &*rhs) {
                        let info = &self.program.globals[global.0 as usize];
                        if info.defined == 1 && !info.assigned {
                            self.globals.insert(*var, *global);
                        }
                    }
                    let is = self.rhs(rhs, path, &mut done);
                    ends = !is.is_none();
                    if let Some(var) = var {
                        self.grow(*var, is);
                        path.insert(*var, is);
                    }
                }
                Stmt::Closures(all) => {
                    for (var, _) in all {
                        path.insert(*var, Type::of(PROCEDURE));
                    }
                }
                Stmt::Scope(_) => {}
            }
            done.push(stmt);
            if !ends {
                done.extend(stmts);
                block.stmts = done;
                return Type::NONE;
            }
        }
        block.stmts = done;
        let mut end = std::mem::replace(&mut block.end, Block::empty().end);
        let is = match &mut end {
            End::Return(rhs) => self.rhs(rhs, path, &mut block.stmts),
            End::If(test, then, other) => {
                let asked = self.asked(test, path);
                let found = self.rhs(test, path, &mut block.stmts);
                if found.is_none() {
                    block.end = end;
                    return Type::NONE;
                }
                let (mut yes, mut no) = (path.clone(), path.clone());
                learn(&asked, true, &mut yes, &self.types);
                learn(&asked, false, &mut no, &self.types);
                if !specialise::is_silent(test) || found.has(FALSE) && !found.is(FALSE) {
                    let is = self.block(then, &mut yes);
                    is.join(self.block(other, &mut no))
                } else {
                    let (taken, mut path) = if found.is(FALSE) { (other, no) } else { (then, yes) };
                    let is = self.block(taken, &mut path);
                    if self.last {
                        let taken = taken.take();
                        block.stmts.extend(taken.stmts);
                        end = taken.end;
                    }
                    is
                }
            }
            End::Loops(labels, body) => {
                for label in labels.iter() {
                    self.params.insert(label.name, label.params.clone());
                }
                let mut is = self.block(body, &mut path.clone());
                for label in labels {
                    is = is.join(self.block(&mut label.body, &mut path.clone()));
                }
                is
            }
            End::Go(label, arguments) => {
                let params = self.params.get(label).cloned().unwrap_or_default();
                for (param, argument) in params.into_iter().zip(arguments) {
                    let is = self.atom(argument, path);
                    self.grow(param, is);
                }
                Type::NONE
            }
        };
        block.end = end;
        is
    }

    /// The type of what is computed. In the last walk it is replaced, after more statements if need be.
    fn rhs(&mut self, rhs: &mut Rhs, path: &mut Path, done: &mut Vec<Stmt>) -> Type {
        match rhs {
            Rhs::Atom(atom) => self.atom(atom, path),
            Rhs::Global(global) => self.types.globals.get(global).copied().unwrap_or(Type::NONE),
            Rhs::SetGlobal(global, atom, _) => {
                let is = self.atom(atom, path);
                let old = self.types.globals.entry(*global).or_insert(Type::NONE);
                grow(old, is, &mut self.changed);
                Type::of(OTHER)
            }
            Rhs::Block(block) => self.block(block, &mut path.clone()),
            Rhs::Call(operator, None, arguments, _) => {
                self.atom(operator, path);
                for argument in arguments {
                    self.atom(argument, path);
                }
                Type::ANY
            }
            Rhs::Call(_, Some((id, clause)), arguments, _) => {
                let (id, clause) = (*id, *clause);
                let reached = &mut self.types.reached[id.0 as usize][clause];
                self.changed |= !std::mem::replace(reached, true);
                let params = self.flow.procs[id.0 as usize].clauses[clause].params.clone();
                for (param, argument) in params.into_iter().zip(arguments) {
                    let is = self.atom(argument, path);
                    self.grow(param, is);
                }
                self.types.result(id, clause)
            }
            Rhs::Prim(prim, all, _) => {
                let prim = *prim;
                let types: Vec<Type> = all.iter().map(|a| self.atom(a, path)).collect();
                let is = self.prim(prim, all, &types);
                refine(prim, all, &types, path);
                if self.last {
                    let rtd = all.get(1).and_then(|rtd| self.rtd(rtd));
                    let locals = Locals { program: self.program, types: &mut self.types, done };
                    specialise::run(rhs, &types, is, rtd, locals);
                }
                is
            }
        }
    }

    fn fill_box(&mut self, var: Var, by: Type) {
        grow(self.types.boxes.entry(var).or_insert(Type::ANY), by, &mut self.changed);
    }

    /// The record type and the number of a field, where both are known.
    fn field(&self, rtd: &Atom, index: &Atom) -> Option<(Global, i64)> {
        Some((self.rtd(rtd)?, small(index)?))
    }

    fn rtd(&self, rtd: &Atom) -> Option<Global> {
        match rtd {
            Atom::Local(var) => self.globals.get(var).copied(),
            _ => None,
        }
    }

    fn prim(&mut self, prim: &Prim, all: &[Atom], types: &[Type]) -> Type {
        if types.iter().any(|t| t.is_none()) {
            return Type::NONE;
        }
        match (prim.name, all) {
            ("%unbox", [Atom::Local(var)]) => {
                self.types.boxes.get(var).copied().unwrap_or(Type::ANY)
            }
            ("%set-box!", [Atom::Local(var), _]) => {
                self.fill_box(*var, types[1]);
                Type::of(OTHER)
            }
            ("%box", _) => Type::of(OTHER),
            ("%check-bound", _) => types[0],
            ("values", [_]) => types[0],
            ("values", _) => Type::of(OTHER),
            ("%record", [rtd, fields @ ..]) => {
                let rtd = self.rtd(rtd);
                if let Some(rtd) = rtd {
                    for i in 0..fields.len() {
                        self.fill_field((rtd, i as i64), types[1 + i]);
                    }
                }
                Type::record(rtd)
            }
            ("%record-ref", [_, rtd, index, _]) => match self.field(rtd, index) {
                Some(field) => self.types.fields.get(&field).copied().unwrap_or(Type::NONE),
                None => Type::ANY,
            },
            ("%record-set!", [_, rtd, index, ..]) => {
                if let Some(field) = self.field(rtd, index) {
                    self.fill_field(field, types[3]);
                }
                Type::of(OTHER)
            }
            ("%record?", [_, rtd]) => match (self.rtd(rtd), types[0]) {
                (Some(rtd), is) if is.only_rtd() == Some(rtd) => Type::of(TRUE),
                (_, is) if !is.has(RECORD) => Type::of(FALSE),
                _ => Type::of(BOOL),
            },
            (name, _) if prim.is_truth() => match prims::tells(name) {
                Some(kinds) if types[0].is(kinds) => Type::of(TRUE),
                Some(kinds) if !types[0].has(kinds) => Type::of(FALSE),
                _ => Type::of(BOOL),
            },
            _ if prim.gives_nothing() => Type::of(OTHER),
            (name, _) => prims::gives(name, types),
        }
    }

    fn fill_field(&mut self, field: (Global, i64), by: Type) {
        grow(self.types.fields.entry(field).or_insert(Type::NONE), by, &mut self.changed);
    }
}

fn grow(old: &mut Type, by: Type, changed: &mut bool) {
    let new = old.join(by);
    if new != *old {
        *old = if old.is_none() { new } else { new.widened(*old) };
        *changed = true;
    }
}

/// What is known of arguments after the primitive has not failed.
fn refine(prim: &Prim, all: &[Atom], types: &[Type], path: &mut Path) {
    let kinds = prims::takes(prim.name);
    for (i, (atom, is)) in all.iter().zip(types).enumerate() {
        let Atom::Local(var) = atom else { continue };
        let mut narrow = kinds.get(i).map_or(*is, |kinds| is.only(*kinds));
        if prims::index(prim.name) == Some(i) {
            narrow = narrow.meet(Type::int(0, LEN_MAX.into()));
        }
        if narrow != *is {
            path.insert(*var, narrow);
        }
    }
}
