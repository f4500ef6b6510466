//! Makes loops of procedures that end by calling themselves.
//!
//! ```text
//! takes  core
//! gives  core where a known procedure that calls itself where nothing is left to do has a loop inside: such calls
//!        go to its beginning
//! ```

use crate::core::{Clause, Expr, Lambda, Program, Var};

/// Makes loops of a program's procedures.
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
    if let Expr::Letrec(bindings, _) = e {
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
