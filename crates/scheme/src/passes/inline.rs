//! Puts small known procedures where they are called.
//!
//! ```text
//! takes  core, after `letrec`
//! gives  core where a call of a known procedure may have become a let of its parameters around its body;
//!        locals bound to constants, other locals or known procedures are gone
//! ```
//! A procedure is known when it is bound by `letrec*`, or defined once at the top level and never assigned. It is
//! put in place when it does not call itself and one of these holds: it is small; this is its only
//! call; it is not large and is given a procedure, as `map` is, which then is known inside it. What is put in place is a
//! copy with names of its own. What nothing mentions afterwards is dropped.

use super::names::{copy, mentions, size};
use crate::core::{Const, Expr, Global, Lambda, Program, Var};
use crate::expand::nary;
use crate::prims::Prim;
use allod_scheme_datum::{Node, Number, Place};
use std::collections::HashMap;
use std::rc::Rc;

/// Procedures up to this size are always put in place.
const SMALL: usize = 14;
/// Procedures that are given procedures, up to this size.
const WITH_PROCEDURE: usize = 60;
/// Procedures with one call only, and what is put into one definition because of that: the C compiler takes too
/// long for what is larger still, and values that are needed after it are stored and loaded around each call in it.
const LARGE: usize = 2000;
/// How often a procedure may be put inside itself, by way of others.
const NESTED: usize = 3;

/// A procedure by the variable that it is bound to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Callee {
    Local(Var),
    Global(Global),
}

struct Known {
    lambda: Lambda,
    recursive: bool,
}

/// A value to bind: as it was, or gone through already.
enum Value {
    Raw(Expr),
    Done(Expr),
}

struct Pass<'p> {
    program: &'p mut Program,
    known: HashMap<Callee, Rc<Known>>,
    /// How often each is mentioned in what comes in.
    mentioned: HashMap<Callee, usize>,
    /// How often locals are mentioned in what goes out.
    kept: HashMap<Var, usize>,
    /// What locals that are gone stand for.
    same: HashMap<Var, Expr>,
    /// What is being put in place, outermost first.
    active: Vec<Callee>,
    /// How much the program may still grow.
    left: usize,
    /// How much has been put into the definition at hand.
    placed: usize,
}

/// Puts small known procedures in place.
pub fn run(program: &mut Program) {
    let forms = std::mem::take(&mut program.forms);
    let mut pass = Pass {
        known: HashMap::new(),
        mentioned: HashMap::new(),
        kept: HashMap::new(),
        same: HashMap::new(),
        active: Vec::new(),
        left: 2 * forms.iter().map(size).sum::<usize>() + 4000,
        placed: 0,
        program,
    };
    for form in &forms {
        pass.count(form);
        if let Expr::Define(global, value) = form {
            let info = &pass.program.globals[global.0 as usize];
            if let (1, false, Expr::Lambda(lambda)) = (info.defined, info.assigned, &**value) {
                pass.learn(Callee::Global(*global), lambda);
            }
        }
    }
    let each = |form| {
        pass.placed = 0;
        pass.expr(form)
    };
    let forms = forms.into_iter().map(each).collect();
    pass.program.forms = forms;
}

fn callee(e: &Expr) -> Option<Callee> {
    match e {
        Expr::Local(var) => Some(Callee::Local(*var)),
        Expr::Global(global, _) => Some(Callee::Global(*global)),
        _ => None,
    }
}

impl Pass<'_> {
    fn count(&mut self, e: &Expr) {
        if let Some(callee) = callee(e) {
            *self.mentioned.entry(callee).or_default() += 1;
        }
        e.children(&mut |child| self.count(child));
    }

    fn learn(&mut self, callee: Callee, lambda: &Lambda) {
        let recursive = lambda
            .clauses
            .iter()
            .any(|clause| mentions(&clause.body, &|e| self::callee(e) == Some(callee)));
        self.known.insert(callee, Rc::new(Known { lambda: lambda.clone(), recursive }));
    }

    fn is_assigned(&self, var: Var) -> bool {
        self.program.vars[var.0 as usize].assigned
    }

    /// Whether a value may be written wherever its variable is.
    fn is_trivial(&self, e: &Expr) -> bool {
        match e {
            Expr::Const(Const::Datum(datum)) => match &datum.node {
                Node::Bool(_) | Node::Char(_) | Node::Symbol(_) => true,
                Node::Number(Number::Int(_) | Number::Float(_)) => true,
                Node::List(items, _) => items.is_empty(),
                _ => false,
            },
            Expr::Const(_) | Expr::PrimValue(_) => true,
            Expr::Local(var) => !self.is_assigned(*var),
            Expr::Global(global, _) => self.known.contains_key(&Callee::Global(*global)),
            _ => false,
        }
    }

    fn expr(&mut self, e: Expr) -> Expr {
        match e {
            Expr::Local(var) => {
                let e = self.same.get(&var).cloned().unwrap_or(Expr::Local(var));
                if let Expr::Local(var) = &e {
                    *self.kept.entry(*var).or_default() += 1;
                }
                e
            }
            Expr::Call(operator, arguments, at) => self.call(*operator, arguments, at),
            Expr::Let(bindings, body) => {
                let bindings =
                    bindings.into_iter().map(|(var, e)| (var, Value::Done(self.expr(e)))).collect();
                self.bind(bindings, *body)
            }
            Expr::Letrec(bindings, body) => self.letrec(bindings, *body),
            Expr::If(test, then, other) => match self.expr(*test) {
                Expr::Const(Const::Datum(datum)) => {
                    let is_false = matches!(datum.node, Node::Bool(false));
                    self.expr(if is_false { *other } else { *then })
                }
                test => {
                    let then = self.expr(*then);
                    Expr::If(Box::new(test), Box::new(then), Box::new(self.expr(*other)))
                }
            },
            mut e => {
                e.children_mut(&mut |child| {
                    let old = std::mem::replace(child, Expr::UNSPECIFIED);
                    *child = self.expr(old);
                });
                e
            }
        }
    }

    fn call(&mut self, operator: Expr, arguments: Vec<Expr>, at: Place) -> Expr {
        let operator = self.expr(operator);
        let count = arguments.len();
        match operator {
            Expr::PrimValue(prim)
                if prim.least <= count && count <= prim.most && !prim.is_value() =>
            {
                let arguments = arguments.into_iter().map(|e| self.expr(e)).collect();
                Expr::Prim(prim, arguments, at)
            }
            // `<` and its like, given as a value to what was put in place.
            Expr::Global(global, _)
                if count == 2
                    && let Some(prim) = self.of_two(global) =>
            {
                let arguments = arguments.into_iter().map(|e| self.expr(e)).collect();
                Expr::Prim(prim, arguments, at)
            }
            Expr::Lambda(lambda) if lambda.takes_exactly(count).is_some() => {
                self.place(None, &lambda, arguments)
            }
            operator => {
                if let Some(callee) = callee(&operator)
                    && let Some(known) = self.known.get(&callee).cloned()
                    && self.is_worth_it(callee, &known, &arguments)
                {
                    if let Expr::Local(var) = operator {
                        *self.kept.entry(var).or_default() -= 1;
                    }
                    return self.place(Some(callee), &known.lambda, arguments);
                }
                let arguments = arguments.into_iter().map(|e| self.expr(e)).collect();
                Expr::Call(Box::new(operator), arguments, at)
            }
        }
    }

    fn of_two(&self, global: Global) -> Option<&'static Prim> {
        let info = &self.program.globals[global.0 as usize];
        // The prelude's own: a program may define the same name.
        if info.at.file == 0 { nary::of_two(&info.name) } else { None }
    }

    fn is_worth_it(&self, callee: Callee, known: &Known, arguments: &[Expr]) -> bool {
        let Some(clause) = known.lambda.takes_exactly(arguments.len()) else { return false };
        let nested = self.active.iter().filter(|other| **other == callee).count();
        if known.recursive || nested >= NESTED {
            return false;
        }
        let size = size(&clause.body);
        let given_procedure = || {
            arguments.iter().any(|e| match e {
                Expr::Lambda(_) | Expr::PrimValue(_) => true,
                other => callee_of(other, &self.same).is_some_and(|c| self.known.contains_key(&c)),
            })
        };
        let once = self.mentioned.get(&callee) == Some(&1) && known.lambda.clauses.len() == 1;
        once && self.placed + size <= LARGE
            || size <= self.left && (size <= SMALL || size <= WITH_PROCEDURE && given_procedure())
    }

    /// Binds the parameters of a copy of a procedure's body.
    fn place(&mut self, callee: Option<Callee>, lambda: &Lambda, arguments: Vec<Expr>) -> Expr {
        let values: Vec<Value> = arguments
            .into_iter()
            .map(|e| match e {
                // A procedure that has only one call may then go there.
                Expr::Lambda(_) => Value::Raw(e),
                other => Value::Done(self.expr(other)),
            })
            .collect();
        let clause = lambda.takes_exactly(values.len()).expect("tested before");
        let size = size(&clause.body);
        self.left = self.left.saturating_sub(size);
        self.placed += size;
        let mut renamed = HashMap::new();
        let copied = copy(clause, self.program, &mut renamed);
        for (old, new) in renamed {
            if let Some(count) = self.mentioned.get(&Callee::Local(old)).copied() {
                self.mentioned.insert(Callee::Local(new), count);
            }
        }
        self.active.extend(callee);
        let bindings = copied.params.into_iter().zip(values).collect();
        let placed = self.bind(bindings, copied.body);
        if callee.is_some() {
            self.active.pop();
        }
        placed
    }

    fn bind(&mut self, bindings: Vec<(Var, Value)>, body: Expr) -> Expr {
        let mut plain = Vec::new();
        let mut lambdas = Vec::new();
        for (var, value) in bindings {
            match value {
                Value::Raw(e @ Expr::Lambda(_)) if !self.is_assigned(var) => lambdas.push((var, e)),
                Value::Raw(e) => plain.push((var, self.expr(e))),
                Value::Done(e) if !self.is_assigned(var) && self.is_trivial(&e) => {
                    if let Expr::Local(other) = &e {
                        *self.kept.entry(*other).or_default() -= 1;
                    }
                    self.same.insert(var, e);
                }
                Value::Done(e) => plain.push((var, e)),
            }
        }
        let body = lambdas
            .into_iter()
            .rev()
            .fold(body, |body, one| Expr::Letrec(vec![one], Box::new(body)));
        let body = self.expr(body);
        if plain.is_empty() { body } else { Expr::Let(plain, Box::new(body)) }
    }

    fn letrec(&mut self, mut bindings: Vec<(Var, Expr)>, body: Expr) -> Expr {
        // Procedures of one group need one another, and stay.
        if let [(var, Expr::Lambda(lambda))] = &bindings[..] {
            self.learn(Callee::Local(*var), lambda);
        }
        let body = self.expr(body);
        // One that nothing mentions any more has gone to its only call, or is not needed.
        if let [(var, _)] = bindings[..]
            && self.known.get(&Callee::Local(var)).is_some_and(|known| !known.recursive)
            && self.kept.get(&var).is_none_or(|count| *count == 0)
        {
            return body;
        }
        for (_, value) in &mut bindings {
            let old = std::mem::replace(value, Expr::UNSPECIFIED);
            *value = self.expr(old);
        }
        Expr::Letrec(bindings, Box::new(body))
    }
}

/// The variable that an argument is, or stands for.
fn callee_of(e: &Expr, same: &HashMap<Var, Expr>) -> Option<Callee> {
    match e {
        Expr::Local(var) => same.get(var).map_or(Some(Callee::Local(*var)), callee),
        other => callee(other),
    }
}
