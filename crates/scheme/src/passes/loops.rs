//! Finds procedures that are places to go to.
//!
//! ```text
//! takes  core
//! gives  core where letrec* became `loops` if each of its procedures is only called, with the right number
//!        of arguments, and only where nothing of the letrec* is left to do afterwards
//! ```
//! Such a procedure needs no closure, no frame and no call: it is a label. Inner letrecs come first, for the
//! bodies of procedures that are loops themselves count as part of what is around them. Other procedures that
//! are known and call themselves where nothing is left to do become loops inside.

use crate::core::{Clause, Expr, Lambda, Program, Var};
use std::collections::HashMap;

/// Finds the loops of a program.
pub fn run(program: &mut Program) {
    let mut forms = std::mem::take(&mut program.forms);
    forms.iter_mut().for_each(|form| expr(form, program));
    program.forms = forms;
}

fn expr(e: &mut Expr, program: &mut Program) {
    e.children_mut(&mut |child| expr(child, program));
    if let Expr::Define(global, value) = e
        && let Expr::Lambda(lambda) = &mut **value
    {
        let info = &program.globals[global.0 as usize];
        if info.defined == 1 && !info.assigned {
            turn(lambda, &|e| matches!(e, Expr::Global(other, _) if other == global), program);
        }
    }
    if let Expr::Letrec(bindings, body) = e
        && are_loops(bindings, body)
    {
        let lambdas = std::mem::take(bindings)
            .into_iter()
            .map(|(var, e)| match e {
                Expr::Lambda(lambda) => {
                    program.vars[var.0 as usize].is_label = true;
                    (var, lambda)
                }
                _ => unreachable!("letrec* binds only lambdas here"),
            })
            .collect();
        let body = std::mem::replace(&mut **body, Expr::UNSPECIFIED);
        *e = Expr::Loops(lambdas, Box::new(body));
    } else if let Expr::Letrec(bindings, _) = e {
        for (var, value) in bindings {
            if let Expr::Lambda(lambda) = value {
                turn(lambda, &|e| matches!(e, Expr::Local(other) if other == var), program);
            }
        }
    }
}

/// Makes a loop of each clause that calls itself where nothing is left to do.
fn turn(lambda: &mut Lambda, is_itself: &dyn Fn(&Expr) -> bool, program: &mut Program) {
    for clause in lambda.clauses.iter_mut().filter(|clause| clause.rest.is_none()) {
        let label = program.var(&lambda.name);
        if !tails(&mut clause.body, is_itself, clause.params.len(), label) {
            continue;
        }
        program.vars[label.0 as usize].is_label = true;
        let fresh = |param: &Var| {
            let name = program.vars[param.0 as usize].name.clone();
            program.var(&name)
        };
        let outer: Vec<Var> = clause.params.iter().map(fresh).collect();
        let arguments = outer.iter().map(|var| Expr::Local(*var)).collect();
        let inner = Clause {
            params: std::mem::replace(&mut clause.params, outer),
            rest: None,
            body: std::mem::replace(&mut clause.body, Expr::UNSPECIFIED),
        };
        let inner = Lambda { name: lambda.name.clone(), clauses: vec![inner], at: lambda.at };
        let enter = Expr::Call(Box::new(Expr::Local(label)), arguments, lambda.at);
        clause.body = Expr::Loops(vec![(label, inner)], Box::new(enter));
    }
}

/// Makes calls at tail positions go to a label, if there are any.
fn tails(e: &mut Expr, is_itself: &dyn Fn(&Expr) -> bool, count: usize, label: Var) -> bool {
    let inside = |e: &mut Expr| tails(e, is_itself, count, label);
    match e {
        Expr::Call(operator, arguments, _) => {
            let found = is_itself(operator) && arguments.len() == count;
            if found {
                **operator = Expr::Local(label);
            }
            found
        }
        Expr::If(_, then, other) => {
            let then = inside(then);
            inside(other) || then
        }
        Expr::Seq(all) => inside(all.last_mut().expect("never empty")),
        Expr::Let(_, body) | Expr::Letrec(_, body) => inside(body),
        Expr::Loops(lambdas, body) => {
            let mut found = inside(body);
            for (_, lambda) in lambdas {
                found |= inside(&mut lambda.clauses[0].body);
            }
            found
        }
        _ => false,
    }
}

fn are_loops(bindings: &[(Var, Expr)], body: &Expr) -> bool {
    let mut takes = HashMap::new();
    let mut bodies = Vec::new();
    for (var, e) in bindings {
        let Expr::Lambda(Lambda { clauses, .. }) = e else { return false };
        let [Clause { params, rest: None, body }] = clauses.as_slice() else { return false };
        takes.insert(*var, params.len());
        bodies.push(body);
    }
    only_gone_to(body, true, &takes) && bodies.iter().all(|body| only_gone_to(body, true, &takes))
}

/// Whether the procedures are only called, and only at tail positions of `e`, if `tail`.
fn only_gone_to(e: &Expr, tail: bool, takes: &HashMap<Var, usize>) -> bool {
    let inside = |e: &Expr| only_gone_to(e, false, takes);
    match e {
        Expr::Local(var) => !takes.contains_key(var),
        Expr::If(test, then, other) => {
            inside(test) && only_gone_to(then, tail, takes) && only_gone_to(other, tail, takes)
        }
        Expr::Seq(all) => {
            let (last, first) = all.split_last().expect("never empty");
            first.iter().all(inside) && only_gone_to(last, tail, takes)
        }
        Expr::Call(operator, arguments, _) => {
            let operator_is_fine = match &**operator {
                Expr::Local(var) => takes.get(var).is_none_or(|n| tail && *n == arguments.len()),
                other => inside(other),
            };
            operator_is_fine && arguments.iter().all(inside)
        }
        Expr::Let(bindings, body) => {
            bindings.iter().all(|(_, e)| inside(e)) && only_gone_to(body, tail, takes)
        }
        Expr::Letrec(bindings, body) => {
            bindings.iter().all(|(_, e)| inside(e)) && only_gone_to(body, tail, takes)
        }
        Expr::Loops(lambdas, body) => {
            lambdas.iter().all(|(_, lambda)| only_gone_to(&lambda.clauses[0].body, tail, takes))
                && only_gone_to(body, tail, takes)
        }
        other => {
            let mut fine = true;
            other.children(&mut |child| fine &= inside(child));
            fine
        }
    }
}
