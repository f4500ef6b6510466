//! What passes do with core expressions of all kinds: measure, search, copy.

use crate::core::{Clause, Expr, Lambda, Program, Var};
use std::collections::HashMap;

/// The number of expressions in one.
pub(super) fn size(e: &Expr) -> usize {
    let mut sum = 1;
    e.children(&mut |child| sum += size(child));
    sum
}

/// Whether `is` holds for an expression or one inside it.
pub(super) fn mentions(e: &Expr, is: &dyn Fn(&Expr) -> bool) -> bool {
    let mut found = is(e);
    e.children(&mut |child| found = found || mentions(child, is));
    found
}

/// A copy of a clause in which all that it binds has new names; `renamed` says which.
pub(super) fn copy(
    clause: &Clause,
    program: &mut Program,
    renamed: &mut HashMap<Var, Var>,
) -> Clause {
    let mut copied = clause.clone();
    rename_clause(&mut copied, program, renamed);
    copied
}

fn fresh(var: &mut Var, program: &mut Program, renamed: &mut HashMap<Var, Var>) {
    let new = Var(program.vars.len() as u32);
    program.vars.push(program.vars[var.0 as usize].clone());
    renamed.insert(*var, new);
    *var = new;
}

fn rename_clause(clause: &mut Clause, program: &mut Program, renamed: &mut HashMap<Var, Var>) {
    for param in clause.params.iter_mut().chain(&mut clause.rest) {
        fresh(param, program, renamed);
    }
    rename(&mut clause.body, program, renamed);
}

fn rename_lambda(lambda: &mut Lambda, program: &mut Program, renamed: &mut HashMap<Var, Var>) {
    for clause in &mut lambda.clauses {
        rename_clause(clause, program, renamed);
    }
}

fn rename(e: &mut Expr, program: &mut Program, renamed: &mut HashMap<Var, Var>) {
    match e {
        Expr::Local(var) => *var = renamed.get(var).copied().unwrap_or(*var),
        Expr::SetLocal(var, value) => {
            *var = renamed.get(var).copied().unwrap_or(*var);
            rename(value, program, renamed);
        }
        Expr::Let(bindings, _) | Expr::Letrec(bindings, _) => {
            for (var, _) in bindings.iter_mut() {
                fresh(var, program, renamed);
            }
            e.children_mut(&mut |child| rename(child, program, renamed));
        }
        Expr::Loops(lambdas, _) => {
            for (var, _) in lambdas.iter_mut() {
                fresh(var, program, renamed);
            }
            for (_, lambda) in lambdas {
                rename_lambda(lambda, program, renamed);
            }
            let Expr::Loops(_, body) = e else { unreachable!("matched above") };
            rename(body, program, renamed);
        }
        Expr::Lambda(lambda) => rename_lambda(lambda, program, renamed),
        other => other.children_mut(&mut |child| rename(child, program, renamed)),
    }
}
