//! The core language, what the expander gives.
//!
//! ```text
//! E = constant | local | global | procedure-of-primitive
//!   | (set! local E) | (set! global E) | (define global E)
//!   | (if E E E) | (begin E … E) | (lambda clause …) | (E E …) | (primitive E …)
//!   | (let ((local E) …) E) | (letrec* ((local E) …) E) | (loops ((local lambda) …) E)
//! clause = ((local …) rest? E)
//! ```
//! Every local is bound once. `loops` comes from the pass of that name only: each of its lambdas is called,
//! with the right number of arguments, only where control would then leave the `loops` form.

use crate::foreign::Foreign;
use crate::prims::Prim;
use allod_scheme_datum::{Datum, Place};
use std::rc::Rc;

/// A local variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Var(pub u32);

/// A variable of the top level of a program or library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Global(pub u32);

/// What is known of a local.
#[derive(Clone, Debug)]
pub struct VarInfo {
    /// Its name in the source.
    pub name: Rc<str>,
    /// It is assigned somewhere.
    pub assigned: bool,
    /// It may be read before it has a value.
    pub checked: bool,
    /// It is a place to go to: bound by `loops`.
    pub is_label: bool,
}

/// What is known of a global.
#[derive(Clone, Debug)]
pub struct GlobalInfo {
    /// Its name in the source.
    pub name: Rc<str>,
    /// Where it was defined, or first used.
    pub at: Place,
    /// How often it is defined.
    pub defined: u32,
    /// It is assigned somewhere.
    pub assigned: bool,
}

/// A constant.
#[derive(Clone, Debug)]
pub enum Const {
    /// A datum of the source.
    Datum(Rc<Datum>),
    /// The value of what has none.
    Unspecified,
    /// A variable that has no value yet.
    Unbound,
}

/// An expression.
#[derive(Clone, Debug)]
pub enum Expr {
    /// A constant.
    Const(Const),
    /// The value of a local.
    Local(Var),
    /// The value of a global.
    Global(Global, Place),
    /// A primitive as a procedure.
    PrimValue(&'static Prim),
    /// Assigns a local.
    SetLocal(Var, Box<Expr>),
    /// Assigns a global.
    SetGlobal(Global, Box<Expr>, Place),
    /// Gives a global its first value.
    Define(Global, Box<Expr>),
    /// A choice.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// One after the other; never empty.
    Seq(Vec<Expr>),
    /// A procedure.
    Lambda(Lambda),
    /// A call.
    Call(Box<Expr>, Vec<Expr>, Place),
    /// A primitive's work.
    Prim(&'static Prim, Vec<Expr>, Place),
    /// Binds locals to values.
    Let(Vec<(Var, Expr)>, Box<Expr>),
    /// Binds locals one after the other, each visible to all.
    Letrec(Vec<(Var, Expr)>, Box<Expr>),
    /// Procedures that are places to go to.
    Loops(Vec<(Var, Lambda)>, Box<Expr>),
}

/// A procedure.
#[derive(Clone, Debug)]
pub struct Lambda {
    /// The name that messages give it.
    pub name: Rc<str>,
    /// One for each number of arguments.
    pub clauses: Vec<Clause>,
    /// Where it stands.
    pub at: Place,
}

/// A procedure for one number of arguments.
#[derive(Clone, Debug)]
pub struct Clause {
    /// The parameters.
    pub params: Vec<Var>,
    /// The parameter that takes the list of all further arguments.
    pub rest: Option<Var>,
    /// What is done.
    pub body: Expr,
}

impl Lambda {
    /// The clause that takes `count` arguments, if each then has a parameter of its own.
    pub fn takes_exactly(&self, count: usize) -> Option<&Clause> {
        let takes =
            |c: &&Clause| c.params.len() == count || (c.rest.is_some() && c.params.len() <= count);
        self.clauses.iter().find(takes).filter(|clause| clause.rest.is_none())
    }
}

impl Expr {
    /// The value of what has none.
    pub const UNSPECIFIED: Expr = Expr::Const(Const::Unspecified);

    /// One after the other.
    pub fn seq(mut all: Vec<Expr>) -> Expr {
        match all.len() {
            0 => Expr::UNSPECIFIED,
            1 => all.remove(0),
            _ => Expr::Seq(all),
        }
    }

    /// Calls `each` for every expression directly inside this one.
    pub fn children_mut(&mut self, each: &mut dyn FnMut(&mut Expr)) {
        match self {
            Expr::Const(_) | Expr::Local(_) | Expr::Global(..) | Expr::PrimValue(_) => {}
            Expr::SetLocal(_, e) | Expr::SetGlobal(_, e, _) | Expr::Define(_, e) => each(e),
            Expr::If(a, b, c) => [a, b, c].into_iter().for_each(|e| each(e)),
            Expr::Seq(all) | Expr::Prim(_, all, _) => all.iter_mut().for_each(each),
            Expr::Lambda(lambda) => lambda.clauses.iter_mut().for_each(|c| each(&mut c.body)),
            Expr::Call(f, all, _) => {
                each(f);
                all.iter_mut().for_each(each);
            }
            Expr::Let(bindings, body) | Expr::Letrec(bindings, body) => {
                bindings.iter_mut().for_each(|(_, e)| each(e));
                each(body);
            }
            Expr::Loops(lambdas, body) => {
                for (_, lambda) in lambdas {
                    lambda.clauses.iter_mut().for_each(|c| each(&mut c.body));
                }
                each(body);
            }
        }
    }

    /// Calls `each` for every expression directly inside this one.
    pub fn children(&self, each: &mut dyn FnMut(&Expr)) {
        match self {
            Expr::Const(_) | Expr::Local(_) | Expr::Global(..) | Expr::PrimValue(_) => {}
            Expr::SetLocal(_, e) | Expr::SetGlobal(_, e, _) | Expr::Define(_, e) => each(e),
            Expr::If(a, b, c) => [a, b, c].into_iter().for_each(|e| each(e)),
            Expr::Seq(all) | Expr::Prim(_, all, _) => all.iter().for_each(each),
            Expr::Lambda(lambda) => lambda.clauses.iter().for_each(|c| each(&c.body)),
            Expr::Call(f, all, _) => {
                each(f);
                all.iter().for_each(each);
            }
            Expr::Let(bindings, body) | Expr::Letrec(bindings, body) => {
                bindings.iter().for_each(|(_, e)| each(e));
                each(body);
            }
            Expr::Loops(lambdas, body) => {
                for (_, lambda) in lambdas {
                    lambda.clauses.iter().for_each(|c| each(&c.body));
                }
                each(body);
            }
        }
    }
}

/// A program after expansion: what is done, in order, and its variables.
#[derive(Debug, Default)]
pub struct Program {
    /// The top-level forms.
    pub forms: Vec<Expr>,
    /// All locals.
    pub vars: Vec<VarInfo>,
    /// All globals.
    pub globals: Vec<GlobalInfo>,
    /// Globals that the run-time library calls, by name.
    pub hooks: Vec<(&'static str, Global)>,
    /// The C functions that it declares.
    pub foreign: Vec<Foreign>,
}

impl Program {
    /// A new local.
    pub fn var(&mut self, name: &str) -> Var {
        self.vars.push(VarInfo {
            name: name.into(),
            assigned: false,
            checked: false,
            is_label: false,
        });
        Var(self.vars.len() as u32 - 1)
    }
}
