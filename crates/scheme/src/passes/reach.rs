//! Drops definitions that nothing needs.
//!
//! ```text
//! takes  a program of core forms
//! gives  the same without (define global E) where E has no effect and the global is not used
//! ```

use crate::core::{Expr, Global, Program};
use std::collections::HashSet;

/// Drops what nothing needs.
pub fn run(program: &mut Program) {
    let mut needed: HashSet<Global> = program.hooks.iter().map(|(_, global)| *global).collect();
    let mut waiting: Vec<usize> = Vec::new();
    let mut definitions: Vec<Vec<usize>> = vec![Vec::new(); program.globals.len()];
    let mut kept = vec![false; program.forms.len()];
    for (i, form) in program.forms.iter().enumerate() {
        match form {
            Expr::Define(global, value) if is_pure(value) => {
                definitions[global.0 as usize].push(i);
                if needed.contains(global) {
                    waiting.push(i);
                }
            }
            _ => waiting.push(i),
        }
    }
    while let Some(i) = waiting.pop() {
        if std::mem::replace(&mut kept[i], true) {
            continue;
        }
        used(&program.forms[i], &mut |global| {
            if needed.insert(global) {
                waiting.extend(&definitions[global.0 as usize]);
            }
        });
    }
    let mut i = 0;
    program.forms.retain(|_| {
        i += 1;
        kept[i - 1]
    });
}

fn is_pure(e: &Expr) -> bool {
    match e {
        Expr::Const(_) | Expr::Lambda(_) | Expr::PrimValue(_) => true,
        Expr::Prim(prim, all, _) => prim.is_pure() && all.iter().all(is_pure),
        _ => false,
    }
}

fn used(e: &Expr, each: &mut dyn FnMut(Global)) {
    match e {
        Expr::Global(global, _) | Expr::SetGlobal(global, ..) => each(*global),
        _ => {}
    }
    e.children(&mut |child| used(child, each));
}
