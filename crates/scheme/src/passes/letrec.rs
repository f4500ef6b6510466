//! Sorts out `letrec*`.
//!
//! ```text
//! takes  core
//! gives  core where letrec* binds only lambdas, which are never assigned; and no call of a lambda
//! ```
//! After Ghuloum and Dybvig, *Fixing letrec (reloaded)*: bindings are put into groups that need one
//! another, and the groups in an order in which each comes after those it needs. A group of lambdas stays a
//! `letrec*`; one binding that does not need itself becomes a `let`; in other groups what is no lambda
//! becomes a variable that is assigned.

use crate::core::{Const, Expr, Program, Var};
use std::collections::{HashMap, HashSet};

/// Sorts out the letrecs of a program.
pub fn run(program: &mut Program) {
    let mut forms = std::mem::take(&mut program.forms);
    forms.iter_mut().for_each(|form| expr(form, program));
    program.forms = forms;
}

fn expr(e: &mut Expr, program: &mut Program) {
    e.children_mut(&mut |child| expr(child, program));
    match std::mem::replace(e, Expr::UNSPECIFIED) {
        Expr::Letrec(bindings, body) => *e = groups(bindings, *body, program),
        Expr::Let(bindings, body) => *e = lambdas_apart(bindings, *body, program),
        Expr::Call(operator, arguments, at) => *e = direct(*operator, arguments, at, program),
        other => *e = other,
    }
}

/// A call of a lambda binds its parameters.
fn direct(
    operator: Expr,
    arguments: Vec<Expr>,
    at: allod_scheme_datum::Place,
    program: &Program,
) -> Expr {
    match operator {
        Expr::Lambda(mut lambda)
            if lambda.clauses.len() == 1
                && lambda.clauses[0].rest.is_none()
                && lambda.clauses[0].params.len() == arguments.len() =>
        {
            let clause = lambda.clauses.remove(0);
            let bindings = clause.params.into_iter().zip(arguments).collect();
            lambdas_apart(bindings, clause.body, program)
        }
        operator => Expr::Call(Box::new(operator), arguments, at),
    }
}

/// Lambdas bound by `let` to variables that are not assigned are bound by `letrec*`: passes that follow
/// look for known procedures there. Lambdas have no effects, so they may come last.
fn lambdas_apart(bindings: Vec<(Var, Expr)>, body: Expr, program: &Program) -> Expr {
    let (lambdas, others): (Vec<_>, Vec<_>) = bindings.into_iter().partition(|(var, e)| {
        matches!(e, Expr::Lambda(_)) && !program.vars[var.0 as usize].assigned
    });
    let body =
        lambdas.into_iter().rev().fold(body, |body, one| Expr::Letrec(vec![one], Box::new(body)));
    if others.is_empty() { body } else { Expr::Let(others, Box::new(body)) }
}

fn mentioned(e: &Expr, group: &HashMap<Var, usize>, found: &mut HashSet<usize>) {
    if let Expr::Local(var) | Expr::SetLocal(var, _) = e {
        found.extend(group.get(var));
    }
    e.children(&mut |child| mentioned(child, group, found));
}

fn has_no_effect(e: &Expr) -> bool {
    matches!(e, Expr::Const(_) | Expr::Lambda(_) | Expr::PrimValue(_) | Expr::Local(_))
}

fn groups(bindings: Vec<(Var, Expr)>, body: Expr, program: &mut Program) -> Expr {
    let index: HashMap<Var, usize> =
        bindings.iter().enumerate().map(|(i, (v, _))| (*v, i)).collect();
    let mut needs: Vec<Vec<usize>> = Vec::new();
    let mut last_effect = None;
    for (i, (_, value)) in bindings.iter().enumerate() {
        let mut found = HashSet::new();
        mentioned(value, &index, &mut found);
        let mut found: Vec<usize> = found.into_iter().collect();
        found.sort_unstable();
        if !has_no_effect(value) {
            // Effects stay in order.
            found.extend(last_effect);
            last_effect = Some(i);
        }
        needs.push(found);
    }
    let order = components(&needs);
    let mut bindings: Vec<Option<(Var, Expr)>> = bindings.into_iter().map(Some).collect();
    let mut body = body;
    for mut group in order.into_iter().rev() {
        group.sort_unstable();
        let itself = group.len() == 1 && !needs[group[0]].contains(&group[0]);
        let group: Vec<(Var, Expr)> =
            group.into_iter().map(|i| bindings[i].take().expect("each is in one group")).collect();
        body = bind(group, itself, body, program);
    }
    body
}

fn bind(group: Vec<(Var, Expr)>, alone: bool, body: Expr, program: &mut Program) -> Expr {
    let simple = |(var, e): &(Var, Expr)| {
        matches!(e, Expr::Lambda(_)) && !program.vars[var.0 as usize].assigned
    };
    if group.iter().all(simple) {
        return Expr::Letrec(group, Box::new(body));
    }
    if alone {
        return lambdas_apart(group, body, program);
    }
    let (lambdas, others): (Vec<_>, Vec<_>) = group.into_iter().partition(simple);
    let mut outer = Vec::new();
    let mut steps = Vec::new();
    for (var, value) in others {
        let info = &mut program.vars[var.0 as usize];
        info.assigned = true;
        info.checked = true;
        outer.push((var, Expr::Const(Const::Unbound)));
        steps.push(Expr::SetLocal(var, Box::new(value)));
    }
    steps.push(body);
    let mut inner = Expr::seq(steps);
    if !lambdas.is_empty() {
        inner = Expr::Letrec(lambdas, Box::new(inner));
    }
    Expr::Let(outer, Box::new(inner))
}

/// Tarjan's strongly connected components, each after those it needs.
fn components(needs: &[Vec<usize>]) -> Vec<Vec<usize>> {
    struct State<'a> {
        needs: &'a [Vec<usize>],
        number: Vec<Option<usize>>,
        low: Vec<usize>,
        on_stack: Vec<bool>,
        stack: Vec<usize>,
        next: usize,
        done: Vec<Vec<usize>>,
    }
    fn visit(s: &mut State<'_>, v: usize) {
        s.number[v] = Some(s.next);
        s.low[v] = s.next;
        s.next += 1;
        s.stack.push(v);
        s.on_stack[v] = true;
        for &w in &s.needs[v] {
            match s.number[w] {
                None => {
                    visit(s, w);
                    s.low[v] = s.low[v].min(s.low[w]);
                }
                Some(n) if s.on_stack[w] => s.low[v] = s.low[v].min(n),
                Some(_) => {}
            }
        }
        if Some(s.low[v]) == s.number[v] {
            let mut group = Vec::new();
            loop {
                let w = s.stack.pop().expect("the root is on the stack");
                s.on_stack[w] = false;
                group.push(w);
                if w == v {
                    break;
                }
            }
            s.done.push(group);
        }
    }
    let n = needs.len();
    let mut s = State {
        needs,
        number: vec![None; n],
        low: vec![0; n],
        on_stack: vec![false; n],
        stack: Vec::new(),
        next: 0,
        done: Vec::new(),
    };
    for v in 0..n {
        if s.number[v].is_none() {
            visit(&mut s, v);
        }
    }
    s.done
}
