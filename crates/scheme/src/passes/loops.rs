//! Finds procedures that are places to go to.
//!
//! ```text
//! takes  core
//! gives  core where letrec* became `loops` if each of its procedures is only called, with the right number
//!        of arguments, and only where nothing of the letrec* is left to do afterwards
//! ```
//! Such a procedure needs no closure, no frame and no call: it is a label. Inner letrecs come first, for the
//! bodies of procedures that are loops themselves count as part of what is around them.

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
