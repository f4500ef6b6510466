//! Straight-line code: every intermediate value gets a name, and procedures become a list.
//!
//! ```text
//! takes  core, after `assign` and `loops`
//! gives  straight-line code (`straight`)
//! ```
//! Arguments are computed from left to right.

use crate::core::{Clause, Const, Expr, Lambda, Program, Var};
use crate::expand::arity;
use crate::straight::{Atom, Block, Code, End, Flow, Label, Proc, ProcId, Rhs, Stmt};
use allod_scheme_datum::{Datum, Fault, Node, Place};
use std::rc::Rc;

/// What a block's value is for.
enum Dest {
    /// It is the procedure's.
    Return,
    /// It is the block's.
    Value,
    /// It is not needed.
    Effect,
}

struct Pass<'p> {
    program: &'p mut Program,
    flow: Flow,
    /// Clauses and names of procedures whose code may still be to come.
    shapes: Vec<Vec<(usize, bool)>>,
    fault: Option<Fault>,
}

/// Makes straight-line code of a program.
///
/// # Errors
/// When a known procedure is called with a wrong number of arguments.
pub fn run(program: &mut Program) -> Result<Flow, Fault> {
    let forms = std::mem::take(&mut program.forms);
    let mut pass = Pass { program, flow: Flow::default(), shapes: Vec::new(), fault: None };
    for form in &forms {
        if let Expr::Define(global, value) = form {
            let info = &pass.program.globals[global.0 as usize];
            if let (1, false, Expr::Lambda(lambda)) = (info.defined, info.assigned, &**value) {
                let id = pass.declare(lambda, None);
                pass.flow.known.insert(*global, id);
            }
        }
    }
    for form in forms {
        match form {
            Expr::Define(global, value) if pass.flow.known.contains_key(&global) => {
                let id = pass.flow.known[&global];
                let Expr::Lambda(lambda) = *value else {
                    unreachable!("known globals are lambdas")
                };
                pass.define(id, lambda);
            }
            form => {
                if let Expr::Define(global, _) = &form {
                    let place = pass.program.globals[global.0 as usize].at;
                    pass.flow.prelude += usize::from(place.file == 0);
                }
                let top = pass.block(form, &Dest::Return);
                pass.flow.tops.push(top);
            }
        }
    }
    match pass.fault {
        Some(fault) => Err(fault),
        None => Ok(pass.flow),
    }
}

impl Pass<'_> {
    fn declare(&mut self, lambda: &Lambda, var: Option<Var>) -> ProcId {
        let id = ProcId(self.flow.procs.len() as u32);
        self.flow.procs.push(Proc {
            name: lambda.name.clone(),
            at: lambda.at,
            clauses: Vec::new(),
            var,
            free: Vec::new(),
            open: false,
        });
        self.shapes
            .push(lambda.clauses.iter().map(|c| (c.params.len(), c.rest.is_some())).collect());
        if let Some(var) = var {
            self.flow.proc_of.insert(var, id);
        }
        id
    }

    fn define(&mut self, id: ProcId, lambda: Lambda) {
        for Clause { mut params, rest, body } in lambda.clauses {
            params.extend(rest);
            let body = self.block(body, &Dest::Return);
            self.flow.procs[id.0 as usize].clauses.push(Code {
                params,
                rest: rest.is_some(),
                body,
            });
        }
    }

    fn block(&mut self, e: Expr, dest: &Dest) -> Block {
        let mut stmts = Vec::new();
        let end = self.end(e, &mut stmts, dest);
        Block { stmts, end }
    }

    /// The end that an expression is, after statements of its own.
    fn end(&mut self, e: Expr, stmts: &mut Vec<Stmt>, dest: &Dest) -> End {
        match e {
            Expr::If(test, then, other) => {
                // (if (not x) a b) and (if #t a b) choose at once.
                match *test {
                    Expr::Prim(prim, mut all, _) if prim.name == "not" => {
                        self.end(Expr::If(Box::new(all.remove(0)), other, then), stmts, dest)
                    }
                    Expr::If(test, a, b) if is_const(&b) && is_const(&a) => {
                        let (a, b) = (is_false(&a), is_false(&b));
                        let (then, other) = match (a, b) {
                            (false, true) => (then, other),
                            (true, false) => (other, then),
                            (false, false) => return self.both(*test, *then, stmts, dest),
                            (true, true) => return self.both(*test, *other, stmts, dest),
                        };
                        self.end(Expr::If(test, then, other), stmts, dest)
                    }
                    // (if (if t a #f) x y), where y may be written twice because it is small.
                    Expr::If(t, a, b)
                        if is_const(&b) && is_const(if is_false(&b) { &other } else { &then }) =>
                    {
                        let (yes, no) = (then.clone(), other.clone());
                        let inner = Expr::If(a, yes.clone(), no.clone());
                        let end = if is_false(&b) { *no } else { *yes };
                        self.end(Expr::If(t, Box::new(inner), Box::new(end)), stmts, dest)
                    }
                    test => {
                        let test = match self.rhs(test, stmts) {
                            call @ Rhs::Call(..) => {
                                let var = self.program.var("t");
                                stmts.push(Stmt::Let(Some(var), call, Vec::new()));
                                Rhs::Atom(Atom::Local(var))
                            }
                            test => test,
                        };
                        let then = Box::new(self.block(*then, dest));
                        let other = Box::new(self.block(*other, dest));
                        End::If(test, then, other)
                    }
                }
            }
            Expr::Seq(mut all) => {
                let last = all.pop().expect("never empty");
                all.into_iter().for_each(|e| self.effect(e, stmts));
                self.end(last, stmts, dest)
            }
            Expr::Let(bindings, body) => {
                for (var, value) in bindings {
                    let rhs = self.rhs(value, stmts);
                    stmts.push(Stmt::Let(Some(var), rhs, Vec::new()));
                }
                self.end(*body, stmts, dest)
            }
            Expr::Letrec(bindings, body) => {
                let declared: Vec<_> = bindings
                    .into_iter()
                    .map(|(var, value)| match value {
                        Expr::Lambda(lambda) => (var, self.declare(&lambda, Some(var)), lambda),
                        _ => unreachable!("letrec* binds only lambdas here"),
                    })
                    .collect();
                stmts.push(Stmt::Closures(
                    declared.iter().map(|(var, id, _)| (*var, *id)).collect(),
                ));
                for (_, id, lambda) in declared {
                    self.define(id, lambda);
                }
                self.end(*body, stmts, dest)
            }
            Expr::Loops(lambdas, body) => {
                let mut labels = Vec::new();
                for (name, mut lambda) in lambdas {
                    let clause = lambda.clauses.remove(0);
                    let body = self.block(clause.body, dest);
                    labels.push(Label { name, params: clause.params, body, live: Vec::new() });
                }
                let body = self.block(*body, dest);
                End::Loops(labels, Box::new(body))
            }
            Expr::Call(operator, arguments, at) => {
                if let Expr::Local(var) = &*operator
                    && self.program.vars[var.0 as usize].is_label
                {
                    let arguments = self.atoms(arguments, stmts);
                    return End::Go(*var, arguments);
                }
                let rhs = self.call(*operator, arguments, at, stmts);
                self.finish(rhs, stmts, dest)
            }
            other => {
                let rhs = self.rhs(other, stmts);
                self.finish(rhs, stmts, dest)
            }
        }
    }

    fn both(&mut self, test: Expr, then: Expr, stmts: &mut Vec<Stmt>, dest: &Dest) -> End {
        self.effect(test, stmts);
        self.end(then, stmts, dest)
    }

    fn finish(&mut self, rhs: Rhs, stmts: &mut Vec<Stmt>, dest: &Dest) -> End {
        match dest {
            Dest::Return => End::Return(rhs),
            // What is alive after a call is written beside its name.
            Dest::Value if matches!(rhs, Rhs::Call(..)) => {
                let var = self.program.var("t");
                stmts.push(Stmt::Let(Some(var), rhs, Vec::new()));
                End::Return(Rhs::Atom(Atom::Local(var)))
            }
            Dest::Value => End::Return(rhs),
            Dest::Effect => {
                if !matches!(rhs, Rhs::Atom(_)) {
                    stmts.push(Stmt::Let(None, rhs, Vec::new()));
                }
                End::Return(Rhs::Atom(Atom::Const(Const::Unspecified)))
            }
        }
    }

    fn effect(&mut self, e: Expr, stmts: &mut Vec<Stmt>) {
        match e {
            Expr::Const(_) | Expr::Local(_) | Expr::Lambda(_) | Expr::PrimValue(_) => {}
            Expr::Seq(all) => all.into_iter().for_each(|e| self.effect(e, stmts)),
            e @ (Expr::If(..) | Expr::Let(..) | Expr::Letrec(..) | Expr::Loops(..)) => {
                let block = self.block(e, &Dest::Effect);
                stmts.push(Stmt::Let(None, Rhs::Block(Box::new(block)), Vec::new()));
            }
            e => {
                let rhs = self.rhs(e, stmts);
                stmts.push(Stmt::Let(None, rhs, Vec::new()));
            }
        }
    }

    fn rhs(&mut self, e: Expr, stmts: &mut Vec<Stmt>) -> Rhs {
        match e {
            Expr::Const(c) => Rhs::Atom(Atom::Const(c)),
            Expr::Local(var) => Rhs::Atom(Atom::Local(var)),
            Expr::PrimValue(prim) => Rhs::Atom(Atom::PrimValue(prim)),
            Expr::Global(global, _) => match self.flow.known.get(&global) {
                Some(id) => Rhs::Atom(Atom::Proc(*id)),
                None => Rhs::Global(global),
            },
            Expr::Prim(prim, arguments, at) => {
                let arguments = self.atoms(arguments, stmts);
                Rhs::Prim(prim, arguments, at)
            }
            Expr::SetGlobal(global, value, _) => {
                let value = self.atom(*value, stmts);
                Rhs::SetGlobal(global, value, false)
            }
            Expr::Define(global, value) => {
                let value = self.atom(*value, stmts);
                Rhs::SetGlobal(global, value, true)
            }
            Expr::SetLocal(..) => unreachable!("assign has made boxes of these"),
            Expr::Call(operator, arguments, at) => self.call(*operator, arguments, at, stmts),
            Expr::Lambda(lambda) => {
                let var = self.program.var(&lambda.name.clone());
                let id = self.declare(&lambda, Some(var));
                stmts.push(Stmt::Closures(vec![(var, id)]));
                self.define(id, lambda);
                Rhs::Atom(Atom::Local(var))
            }
            Expr::Seq(mut all) => {
                let last = all.pop().expect("never empty");
                all.into_iter().for_each(|e| self.effect(e, stmts));
                self.rhs(last, stmts)
            }
            e @ (Expr::If(..) | Expr::Let(..) | Expr::Letrec(..) | Expr::Loops(..)) => {
                Rhs::Block(Box::new(self.block(e, &Dest::Value)))
            }
        }
    }

    fn atom(&mut self, e: Expr, stmts: &mut Vec<Stmt>) -> Atom {
        match self.rhs(e, stmts) {
            Rhs::Atom(atom) => atom,
            rhs => {
                let var = self.program.var("t");
                stmts.push(Stmt::Let(Some(var), rhs, Vec::new()));
                Atom::Local(var)
            }
        }
    }

    fn atoms(&mut self, all: Vec<Expr>, stmts: &mut Vec<Stmt>) -> Vec<Atom> {
        all.into_iter().map(|e| self.atom(e, stmts)).collect()
    }

    fn call(
        &mut self,
        operator: Expr,
        arguments: Vec<Expr>,
        at: Place,
        stmts: &mut Vec<Stmt>,
    ) -> Rhs {
        let operator = self.atom(operator, stmts);
        let mut arguments = self.atoms(arguments, stmts);
        let id = match &operator {
            Atom::Proc(id) => Some(*id),
            Atom::Local(var) => self.flow.proc_of.get(var).copied(),
            _ => None,
        };
        let Some(id) = id else { return Rhs::Call(operator, None, arguments, at) };
        let count = arguments.len();
        let shapes = &self.shapes[id.0 as usize];
        let fits = |&(n, rest): &(usize, bool)| n == count || (rest && n <= count);
        let Some(clause) = shapes.iter().position(fits) else {
            let name = &self.flow.procs[id.0 as usize].name;
            let takes: Vec<String> =
                shapes.iter().map(|&(n, rest)| arity(n, (!rest).then_some(n))).collect();
            let message = format!("{name} takes {}, but gets {count}", takes.join(" or "));
            self.fault.get_or_insert(Fault { message, at, at_end: false });
            return Rhs::Call(operator, None, arguments, at);
        };
        let (params, rest) = shapes[clause];
        if rest {
            let nil = Datum { node: Node::List(Vec::new(), None), at };
            let mut list = Atom::Const(Const::Datum(Rc::new(nil)));
            let cons = crate::prims::find("cons").expect("it is in the table");
            for item in arguments.drain(params..).rev() {
                let var = self.program.var("rest");
                stmts.push(Stmt::Let(Some(var), Rhs::Prim(cons, vec![item, list], at), Vec::new()));
                list = Atom::Local(var);
            }
            arguments.push(list);
        }
        Rhs::Call(operator, Some((id, clause)), arguments, at)
    }
}

fn is_const(e: &Expr) -> bool {
    matches!(e, Expr::Const(_))
}

fn is_false(e: &Expr) -> bool {
    match e {
        Expr::Const(Const::Datum(datum)) => matches!(datum.node, Node::Bool(false)),
        _ => false,
    }
}
