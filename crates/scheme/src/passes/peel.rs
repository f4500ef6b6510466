//! Puts the first tests of known procedures where these are called.
//!
//! ```text
//! takes  core, after `loops`
//! gives  core where a known procedure f that begins with a cheap choice is two: (lambda ((x …) front)), where
//!        front is F, and (lambda ((x …) rest)), which F calls; and where calls of f are lets of its
//!        parameters around a copy of F
//!
//! F = (if T C F) | (if T F C) | (let ((local C)) F) | (rest x …)
//! T, C = constant | local | (primitive C …) | (if T C C)      (what is local is bound in f)
//! ```
//! What ends a recursion is often a test of an argument and a constant: then there is no call, and what is called
//! never comes to that end at once. What was tested is known there, too (`types`), even if f is also
//! called as a value. Only the first tests are written twice, and all calls of the rest that remain are where they were:
//! in tail position, or not.

use super::names::{copy, size};
use crate::core::{Clause, Expr, Global, Lambda, Program, Var};
use crate::prims::Prim;
use std::collections::HashMap;

/// Fronts up to this size, the call of the rest left out.
const SMALL: usize = 14;

/// A procedure by the variable that it is bound to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Callee {
    Local(Var),
    Global(Global),
}

/// How a variable is mentioned.
#[derive(Clone, Copy, Default)]
struct Uses {
    calls: usize,
    others: usize,
}

struct Pass<'p> {
    program: &'p mut Program,
    uses: HashMap<Callee, Uses>,
    /// The fronts of procedures that are two.
    fronts: HashMap<Callee, Clause>,
    /// How much the program may still grow.
    left: usize,
}

/// Puts first tests where procedures are called.
pub fn run(program: &mut Program) {
    let mut forms = std::mem::take(&mut program.forms);
    let left = forms.iter().map(size).sum::<usize>() / 4 + 400;
    let mut pass = Pass { program, uses: HashMap::new(), fronts: HashMap::new(), left };
    forms.iter().for_each(|form| pass.count(form));
    let mut split = Vec::with_capacity(forms.len());
    for mut form in forms.drain(..) {
        pass.locals(&mut form);
        let rest = pass.global(&mut form);
        split.push(form);
        split.extend(rest);
    }
    split.iter_mut().for_each(|form| pass.place(form));
    // Of procedures that are only called, nothing mentions the front any more.
    pass.uses.clear();
    split.iter().for_each(|form| pass.count(form));
    split.iter_mut().for_each(|form| pass.drop_fronts(form));
    pass.program.forms = split;
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
        if let Expr::Call(operator, arguments, _) = e
            && let Some(callee) = callee(operator)
        {
            self.uses.entry(callee).or_default().calls += 1;
            arguments.iter().for_each(|e| self.count(e));
            return;
        }
        if let Some(callee) = callee(e) {
            self.uses.entry(callee).or_default().others += 1;
        }
        e.children(&mut |child| self.count(child));
    }

    /// Makes two of a global procedure, and gives the definition of the second.
    fn global(&mut self, form: &mut Expr) -> Option<Expr> {
        let Expr::Define(global, value) = form else { return None };
        let info = &self.program.globals[global.0 as usize];
        let (1, false, Expr::Lambda(lambda)) = (info.defined, info.assigned, &mut **value) else {
            return None;
        };
        let mut info = info.clone();
        info.name = format!("{}*", info.name).into();
        let rest = Global(self.program.globals.len() as u32);
        let lambda = self.split(Callee::Global(*global), Expr::Global(rest, info.at), lambda)?;
        self.program.globals.push(info);
        Some(Expr::Define(rest, Box::new(Expr::Lambda(lambda))))
    }

    /// Makes two of local procedures. As values they would need two closures.
    fn locals(&mut self, e: &mut Expr) {
        e.children_mut(&mut |child| self.locals(child));
        let Expr::Letrec(bindings, _) = e else { return };
        let mut added = Vec::new();
        for (var, value) in bindings.iter_mut() {
            let Expr::Lambda(lambda) = value else { continue };
            if self.uses.get(&Callee::Local(*var)).is_some_and(|uses| uses.others == 0) {
                let rest = self.program.var(&format!("{}*", lambda.name));
                if let Some(lambda) = self.split(Callee::Local(*var), Expr::Local(rest), lambda) {
                    added.push((rest, Expr::Lambda(lambda)));
                }
            }
        }
        bindings.extend(added);
    }

    /// Leaves a procedure its front, and gives the rest.
    fn split(&mut self, callee: Callee, rest: Expr, lambda: &mut Lambda) -> Option<Lambda> {
        let [Clause { params, rest: None, body }] = &lambda.clauses[..] else { return None };
        let calls = self.uses.get(&callee).map_or(0, |uses| uses.calls);
        let mut front = Front { locals: params.clone(), left: SMALL };
        let arguments = params.iter().map(|param| Expr::Local(*param)).collect();
        let call = Expr::Call(Box::new(rest), arguments, lambda.at);
        let (front, rest) = front.of(body, call)?;
        let growth = calls * size(&front);
        if calls == 0 || growth > self.left {
            return None;
        }
        self.left -= growth;
        let rest = Clause { params: params.clone(), rest: None, body: rest };
        let rest = Lambda { clauses: vec![rest], ..lambda.clone() };
        let front = Clause { params: params.clone(), rest: None, body: front };
        let front = copy(&front, self.program, &mut HashMap::new());
        lambda.clauses = vec![front.clone()];
        self.fronts.insert(callee, front);
        Some(rest)
    }

    /// Writes fronts where their procedures are called.
    fn place(&mut self, e: &mut Expr) {
        e.children_mut(&mut |child| self.place(child));
        let Expr::Call(operator, arguments, at) = e else { return };
        let Some(front) = callee(operator).and_then(|callee| self.fronts.get(&callee)) else {
            return;
        };
        if front.params.len() != arguments.len() {
            return;
        }
        let mut renamed = HashMap::new();
        let Clause { params, mut body, .. } = copy(&front.clone(), self.program, &mut renamed);
        let (mut same, mut bindings) = (HashMap::new(), Vec::new());
        for (param, argument) in params.into_iter().zip(std::mem::take(arguments)) {
            match argument {
                Expr::Local(_) | Expr::Const(_) => _ = same.insert(param, argument),
                argument => bindings.push((param, argument)),
            }
        }
        substitute(&mut body, &same, *at);
        *e = if bindings.is_empty() { body } else { Expr::Let(bindings, Box::new(body)) };
    }

    fn drop_fronts(&self, e: &mut Expr) {
        if let Expr::Letrec(bindings, _) = e {
            bindings.retain(|(var, _)| {
                let callee = Callee::Local(*var);
                !self.fronts.contains_key(&callee) || self.uses.contains_key(&callee)
            });
        }
        e.children_mut(&mut |child| self.drop_fronts(child));
    }
}

/// Puts what locals are the same as in their place, and the call of the rest at the place of the call.
fn substitute(e: &mut Expr, same: &HashMap<Var, Expr>, at: allod_scheme_datum::Place) {
    if let Expr::Local(var) = e
        && let Some(other) = same.get(var)
    {
        *e = other.clone();
    }
    if let Expr::Call(_, _, place) = e {
        *place = at;
    }
    e.children_mut(&mut |child| substitute(child, same, at));
}

/// Where a front ends.
struct Front {
    /// What the procedure itself has bound so far.
    locals: Vec<Var>,
    /// How much larger it may become.
    left: usize,
}

impl Front {
    /// The front of a body, which ends with the call, and the rest, if the body is more than that.
    fn of(&mut self, body: &Expr, call: Expr) -> Option<(Expr, Expr)> {
        match body {
            Expr::If(test, then, other) => {
                let mut left = self.left.checked_sub(1)?;
                left = left.checked_sub(self.cost(test)?)?;
                let (cheap, is_then) = match (self.cost(then), self.cost(other)) {
                    (Some(cost), None) => (cost, true),
                    (None, Some(cost)) => (cost, false),
                    _ => return None,
                };
                self.left = left.checked_sub(cheap)?;
                let further = if is_then { other } else { then };
                let (front, rest) =
                    self.of(further, call.clone()).unwrap_or_else(|| (call, (**further).clone()));
                let (then, other) = match is_then {
                    true => (then.clone(), Box::new(front)),
                    false => (Box::new(front), other.clone()),
                };
                Some((Expr::If(test.clone(), then, other), rest))
            }
            Expr::Let(bindings, body) => {
                for (var, value) in bindings {
                    self.left = self.left.checked_sub(1 + self.cost(value)?)?;
                    self.locals.push(*var);
                }
                let (front, rest) = self.of(body, call)?;
                let around = |e| Expr::Let(bindings.clone(), Box::new(e));
                Some((around(front), around(rest)))
            }
            _ => None,
        }
    }

    /// The size of what calls nothing and makes nothing but large numbers.
    fn cost(&self, e: &Expr) -> Option<usize> {
        let sum =
            |all: &[&Expr]| all.iter().try_fold(1, |sum, e| self.cost(e).map(|cost| sum + cost));
        match e {
            Expr::Const(_) => Some(1),
            Expr::Local(var) => self.locals.contains(var).then_some(1),
            Expr::Prim(prim, all, _) if is_cheap(prim) => sum(&all.iter().collect::<Vec<_>>()),
            Expr::If(test, then, other) => sum(&[test, then, other]),
            _ => None,
        }
    }
}

/// Whether a primitive is some instructions in most cases.
fn is_cheap(prim: &Prim) -> bool {
    const CHEAP: [&str; 36] = [
        "eq?",
        "eqv?",
        "not",
        "null?",
        "pair?",
        "symbol?",
        "string?",
        "char?",
        "boolean?",
        "vector?",
        "procedure?",
        "eof-object?",
        "%unspecified?",
        "%record?",
        "car",
        "cdr",
        "%unbox",
        "%add",
        "%sub",
        "%num=",
        "%num<",
        "%num>",
        "%num<=",
        "%num>=",
        "zero?",
        "positive?",
        "negative?",
        "odd?",
        "even?",
        "%char=?",
        "%char<?",
        "%char<=?",
        "string-length",
        "string-ref",
        "vector-length",
        "vector-ref",
    ];
    CHEAP.contains(&prim.name)
}
