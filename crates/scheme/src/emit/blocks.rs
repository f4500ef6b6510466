//! Blocks, statements and loops as C.

use super::inferred::place;
use super::{Dest, Emit};
use crate::core::Var;
use crate::straight::{Block, Code, End, Label, ProcId, Rhs, Stmt, each_rhs, takes_memory};
use allod_scheme_datum::Place;

impl Emit<'_> {
    pub(super) fn block(&mut self, block: &Block, dest: &Dest) {
        for stmt in &block.stmts {
            self.sites.nowhere();
            self.stmt(stmt);
        }
        self.sites.nowhere();
        match &block.end {
            End::Return(rhs) => self.give(rhs, dest),
            End::If(test, then, other) => {
                let test = self.test(test);
                self.line(&format!("if ({test}) {{"));
                self.sites.nowhere();
                let before = self.roots.clone();
                self.block(then, dest);
                self.line("} else {");
                let then = std::mem::replace(&mut self.roots, before);
                self.block(other, dest);
                self.line("}");
                self.roots.meet(&then);
            }
            End::Loops(labels, body) => self.loops(labels, body, dest),
            End::Go(label, arguments) => {
                let params = self.params.get(label).cloned().unwrap_or_default();
                self.line("{");
                for (i, (argument, param)) in arguments.iter().zip(params).enumerate() {
                    let kind = self.kind(param);
                    let argument =
                        if kind == "V" { self.atom(argument) } else { self.double(argument) };
                    self.line(&format!("{kind} n{i} = {argument};"));
                }
                for i in 0..arguments.len() {
                    self.line(&format!("p{}_{i} = n{i};", label.0));
                }
                self.line(&format!("goto L{};", label.0));
                self.line("}");
            }
        }
    }

    /// Parameters of labels are declared around all of the labels, and copied at each turn: what is declared
    /// inside a turn may be captured by nothing outside it.
    fn loops(&mut self, labels: &[Label], body: &Block, dest: &Dest) {
        let end = self.temp();
        for label in labels {
            self.params.insert(label.name, label.params.clone());
            for (i, param) in label.params.iter().enumerate() {
                let kind = self.kind(*param);
                self.line(&format!("{kind} p{}_{i} SCH_U = 0;", label.name.0));
            }
        }
        self.line("{");
        self.block(body, dest);
        self.line("}");
        let falls = !matches!(dest, Dest::Return(_));
        if falls {
            self.line(&format!("goto {end};"));
        }
        for label in labels {
            self.roots.forget();
            self.line(&format!("L{}: {{", label.name.0));
            for (i, param) in label.params.iter().enumerate() {
                let kind = self.kind(*param);
                self.line(&format!("{kind} v{} SCH_U = p{}_{i};", param.0, label.name.0));
                self.check_type(*param, Place::default());
            }
            if takes_memory(&label.body, self.flow) {
                let live: Vec<String> = label.live.iter().map(|var| self.home(*var)).collect();
                self.poll(&live);
            }
            self.block(&label.body, dest);
            self.line("}");
            if falls {
                self.line(&format!("goto {end};"));
            }
        }
        if falls {
            self.roots.forget();
            self.line(&format!("{end}:;"));
        }
    }

    /// Gives a block's value to where it goes.
    pub(super) fn give(&mut self, rhs: &Rhs, dest: &Dest) {
        match (rhs, dest) {
            (Rhs::Block(block), dest) => self.block(block, dest),
            (Rhs::Call(operator, known, arguments, at), Dest::Return(_)) => {
                let call = self.call(operator, *known, arguments, *at, 0);
                self.line(&format!("SCH_TAIL {call};"));
            }
            (Rhs::Call(operator, known, arguments, at), dest) => {
                // Nothing is alive after it: a value's last call has been named before.
                let call = self.call(operator, *known, arguments, *at, 0);
                self.roots.forget();
                match dest {
                    Dest::Store(target, _) => self.line(&format!("{target} = {call};")),
                    _ => self.line(&format!("(void){call};")),
                }
            }
            (Rhs::Atom(_), Dest::Nowhere) => {}
            (rhs, Dest::Nowhere) => self.effect(rhs),
            (rhs, Dest::Return(raw)) => {
                let value = self.wanted(rhs, *raw);
                let value = if *raw { format!("sch_bits({value})") } else { value };
                self.line(&format!("return {value};"));
            }
            (rhs, Dest::Store(target, raw)) => {
                let value = self.wanted(rhs, *raw);
                self.line(&format!("{target} = {value};"));
            }
        }
    }

    /// Whether a clause computes with doubles and calls itself. gcc puts one that is small into itself some times,
    /// and with this hint one that is not quite as small.
    pub(super) fn is_small_recursion(&self, id: ProcId, c: usize) -> bool {
        let Code { params, body, .. } = &self.flow.procs[id.0 as usize].clauses[c];
        let mut itself = false;
        each_rhs(body, &mut |rhs| {
            itself |= matches!(rhs, Rhs::Call(_, Some(called), ..) if *called == (id, c));
        });
        itself && params.iter().all(|param| self.flow.raw.contains(param))
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.step(stmt);
        if let Stmt::Let(Some(var), rhs, _) = stmt {
            self.check_type(*var, place(rhs));
        }
    }

    fn step(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Closures(all) => self.closures(all),
            Stmt::Scope(step) => self.scope(step),
            Stmt::Let(var, Rhs::Call(operator, known, arguments, at), live) => {
                let is_quiet = known.is_some_and(|clause| self.flow.quiet.contains(&clause));
                let (roots, stored) =
                    if is_quiet { Default::default() } else { self.roots.hold(live) };
                let base = if is_quiet { self.roots.len() } else { roots.len() };
                let target = var.map(|var| format!("{} v{} SCH_U = ", self.kind(var), var.0));
                let target = target.unwrap_or_else(|| "(void)".into());
                // Arguments that have no register lie above what is kept, and are read first.
                let mut call = self.call(operator, *known, arguments, *at, base);
                if known.is_some_and(|clause| self.flow.raw_results.contains(&clause)) {
                    call = format!("sch_double({call})");
                }
                for i in stored {
                    let name = self.home(roots[i]);
                    self.line(&format!("sp[{i}] = {name};"));
                }
                self.line(&format!("{target}{call};"));
                for (i, root) in roots.into_iter().enumerate() {
                    let name = self.home(root);
                    self.line(&format!("{name} = sp[{i}];"));
                }
            }
            Stmt::Let(Some(var), Rhs::Block(block), _) => {
                let target = format!("v{}", var.0);
                let kind = self.kind(*var);
                self.line(&format!("{kind} {target} SCH_U = 0;"));
                self.line("{");
                self.block(block, &Dest::Store(target, kind != "V"));
                self.line("}");
            }
            Stmt::Let(None, Rhs::Block(block), _) => {
                self.line("{");
                self.block(block, &Dest::Nowhere);
                self.line("}");
            }
            Stmt::Let(Some(var), rhs, _) => {
                let kind = self.kind(*var);
                let value = self.wanted(rhs, kind != "V");
                self.line(&format!("{kind} v{} SCH_U = {value};", var.0));
            }
            Stmt::Let(None, rhs, _) => self.effect(rhs),
        }
    }

    fn closures(&mut self, all: &[(Var, ProcId)]) {
        let open: Vec<_> =
            all.iter().filter(|(_, id)| self.flow.procs[id.0 as usize].open).collect();
        for (var, id) in &open {
            let count = self.flow.procs[id.0 as usize].free.len();
            // Whether it is ever called as a value is known at the end only: `CODE` says it then.
            self.line(&format!("V v{} SCH_U = sch_closure(CODE{}, {count});", var.0, id.0));
        }
        for (var, id) in open {
            for (i, free) in self.flow.procs[id.0 as usize].free.iter().enumerate() {
                let value = self.local(*free);
                self.line(&format!("SCH_CAPTURED(v{}, {i}) = {value};", var.0));
            }
        }
    }
}
