//! Assignment conversion: assigned locals live in boxes.
//!
//! ```text
//! takes  core
//! gives  core without (set! local E): an assigned local holds a box that is made where it is bound
//! ```

use crate::core::{Const, Expr, Program, Var};
use crate::prims;
use allod_scheme_datum::{Datum, Node, Place};
use std::rc::Rc;

/// Converts a program.
pub fn run(program: &mut Program) {
    let mut forms = std::mem::take(&mut program.forms);
    forms.iter_mut().for_each(|form| expr(form, program));
    program.forms = forms;
}

fn prim(name: &str, arguments: Vec<Expr>) -> Expr {
    Expr::Prim(
        prims::find(name).expect("the primitive is in the table"),
        arguments,
        Place::default(),
    )
}

fn expr(e: &mut Expr, program: &mut Program) {
    e.children_mut(&mut |child| expr(child, program));
    match e {
        Expr::Local(var) => {
            let info = &program.vars[var.0 as usize];
            if info.assigned {
                let value = prim("%unbox", vec![Expr::Local(*var)]);
                *e = if info.checked {
                    let name =
                        Datum { node: Node::Symbol(info.name.clone()), at: Place::default() };
                    prim("%check-bound", vec![value, Expr::Const(Const::Datum(Rc::new(name)))])
                } else {
                    value
                };
            }
        }
        Expr::SetLocal(var, value) => {
            let value = std::mem::replace(&mut **value, Expr::UNSPECIFIED);
            *e = prim("%set-box!", vec![Expr::Local(*var), value]);
        }
        Expr::Let(bindings, _) => {
            for (var, value) in bindings {
                if program.vars[var.0 as usize].assigned {
                    let old = std::mem::replace(value, Expr::UNSPECIFIED);
                    *value = prim("%box", vec![old]);
                }
            }
        }
        Expr::Lambda(lambda) => {
            for clause in &mut lambda.clauses {
                let mut boxed = Vec::new();
                for param in clause.params.iter_mut().chain(clause.rest.as_mut()) {
                    if program.vars[param.0 as usize].assigned {
                        boxed.push(box_param(param, program));
                    }
                }
                if !boxed.is_empty() {
                    let body = std::mem::replace(&mut clause.body, Expr::UNSPECIFIED);
                    clause.body = Expr::Let(boxed, Box::new(body));
                }
            }
        }
        _ => {}
    }
    if let Expr::Letrec(bindings, _) = e {
        for (_, value) in bindings {
            debug_assert!(matches!(value, Expr::Lambda(_)));
        }
    }
}

/// The parameter becomes another; the old one is a box with its value.
fn box_param(param: &mut Var, program: &mut Program) -> (Var, Expr) {
    let name = program.vars[param.0 as usize].name.clone();
    let plain = program.var(&name);
    let boxed = std::mem::replace(param, plain);
    (boxed, prim("%box", vec![Expr::Local(plain)]))
}
