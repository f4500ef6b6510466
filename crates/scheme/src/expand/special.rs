//! Special forms that are not derived from others.

use super::{Binding, Expander, Outcome, fault};
use crate::core::{Clause, Expr, Lambda};
use crate::syntax::{Form, Ident, Kind, ScopeId};
use allod_scheme_datum::Place;
use std::rc::Rc;

/// The special forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Special {
    Quote,
    Quasiquote,
    Lambda,
    CaseLambda,
    If,
    Set,
    Begin,
    Define,
    DefineValues,
    DefineRecord,
    DefineSyntax,
    LetSyntax,
    SyntaxRules,
    SyntaxError,
    Let,
    LetStar,
    Letrec,
    And,
    Or,
    When,
    Unless,
    Cond,
    Case,
    Do,
    CondExpand,
    Include,
    IncludeCi,
    Import,
    DefineLibrary,
    CProcedure,
    /// Known only inside other forms: `else`, `=>`, `...`, `_`, `unquote`, `unquote-splicing`.
    Auxiliary,
}

pub(crate) const ALL: &[(&str, Special)] = &[
    ("quote", Special::Quote),
    ("quasiquote", Special::Quasiquote),
    ("lambda", Special::Lambda),
    ("case-lambda", Special::CaseLambda),
    ("if", Special::If),
    ("set!", Special::Set),
    ("begin", Special::Begin),
    ("define", Special::Define),
    ("define-values", Special::DefineValues),
    ("define-record-type", Special::DefineRecord),
    ("define-syntax", Special::DefineSyntax),
    ("let-syntax", Special::LetSyntax),
    ("letrec-syntax", Special::LetSyntax),
    ("syntax-rules", Special::SyntaxRules),
    ("syntax-error", Special::SyntaxError),
    ("let", Special::Let),
    ("let*", Special::LetStar),
    ("letrec", Special::Letrec),
    ("letrec*", Special::Letrec),
    ("and", Special::And),
    ("or", Special::Or),
    ("when", Special::When),
    ("unless", Special::Unless),
    ("cond", Special::Cond),
    ("case", Special::Case),
    ("do", Special::Do),
    ("cond-expand", Special::CondExpand),
    ("include", Special::Include),
    ("include-ci", Special::IncludeCi),
    ("import", Special::Import),
    ("define-library", Special::DefineLibrary),
    ("c-procedure", Special::CProcedure),
    ("else", Special::Auxiliary),
    ("=>", Special::Auxiliary),
    ("...", Special::Auxiliary),
    ("_", Special::Auxiliary),
    ("unquote", Special::Auxiliary),
    ("unquote-splicing", Special::Auxiliary),
];

/// The name that messages give a procedure without one.
pub(crate) const ANONYMOUS: &str = "lambda";

impl Expander<'_> {
    pub(super) fn special(
        &mut self,
        special: Special,
        form: &Form,
        items: &[Form],
        scope: ScopeId,
    ) -> Outcome<Expr> {
        let malformed = |what: &str| fault(form.at, format!("malformed {what}"));
        match (special, &items[1..]) {
            (Special::Quote, [datum]) => Ok(self.quoted(datum)),
            (Special::Quote, _) => malformed("quote: (quote datum)"),
            (Special::Quasiquote, [template]) => self.quasi(template, 1, scope),
            (Special::Quasiquote, _) => malformed("quasiquote: (quasiquote template)"),
            (Special::Lambda, [formals, body @ ..]) => {
                let clause = self.clause(formals, body, scope, form.at)?;
                Ok(Expr::Lambda(Lambda {
                    name: ANONYMOUS.into(),
                    clauses: vec![clause],
                    at: form.at,
                }))
            }
            (Special::Lambda, _) => malformed("lambda: (lambda formals body …)"),
            (Special::CaseLambda, clauses) => {
                let mut all = Vec::new();
                for clause in clauses {
                    let Some([formals, body @ ..]) = clause.items() else {
                        return fault(
                            clause.at,
                            "malformed case-lambda: a clause is (formals body …)",
                        );
                    };
                    all.push(self.clause(formals, body, scope, clause.at)?);
                }
                Ok(Expr::Lambda(Lambda { name: ANONYMOUS.into(), clauses: all, at: form.at }))
            }
            (Special::If, [test, then, rest @ ..]) if rest.len() < 2 => {
                let test = self.expr(test, scope)?;
                let then = self.expr(then, scope)?;
                let other = rest.first().map_or(Ok(Expr::UNSPECIFIED), |e| self.expr(e, scope))?;
                Ok(Expr::If(Box::new(test), Box::new(then), Box::new(other)))
            }
            (Special::If, _) => malformed("if: (if test then else)"),
            (Special::Set, [target, value]) => match target.as_id() {
                Some(id) => self.assign(id, value, scope, target.at),
                None => malformed("set!: (set! variable value)"),
            },
            (Special::Set, _) => malformed("set!: (set! variable value)"),
            (Special::Begin, []) => malformed("begin: an expression is missing"),
            (Special::Begin, forms) => Ok(Expr::seq(self.all(forms, scope)?)),
            (Special::LetSyntax, _) => {
                let forms = [form.clone()];
                self.body(&forms, scope, form.at)
            }
            (Special::SyntaxError, rest) => {
                let mut message = match rest.first().map(|f| f.datum(&self.idents).node) {
                    Some(allod_scheme_datum::Node::String(text)) => text.to_string(),
                    _ => "syntax error".into(),
                };
                for irritant in &rest[1.min(rest.len())..] {
                    message =
                        format!("{message} {}", crate::text::datum(&irritant.datum(&self.idents)));
                }
                fault(form.at, message)
            }
            (Special::CondExpand, clauses) => {
                let forms = self.chosen(clauses, form.at)?;
                Ok(Expr::seq(self.all(&forms, scope)?))
            }
            (Special::Include | Special::IncludeCi, files) => {
                let fold = special == Special::IncludeCi;
                let forms = self.included(files, fold, form.at)?;
                Ok(Expr::seq(self.all(&forms, scope)?))
            }
            (Special::Let, rest) => self.let_form(rest, scope, form.at),
            (Special::LetStar, rest) => self.let_star(rest, scope, form.at),
            (Special::Letrec, rest) => self.letrec(rest, scope, form.at),
            (Special::And, rest) => self.and(rest, scope),
            (Special::Or, rest) => self.or(rest, scope),
            (Special::When | Special::Unless, [test, body @ ..]) if !body.is_empty() => {
                let test = Box::new(self.expr(test, scope)?);
                let body = Box::new(Expr::seq(self.all(body, scope)?));
                let nothing = Box::new(Expr::UNSPECIFIED);
                Ok(if special == Special::When {
                    Expr::If(test, body, nothing)
                } else {
                    Expr::If(test, nothing, body)
                })
            }
            (Special::When | Special::Unless, _) => malformed("when or unless: (when test body …)"),
            (Special::Cond, []) => malformed("cond: (cond (test body …) …)"),
            (Special::Cond, clauses) => self.cond(clauses, scope),
            (Special::Case, [_]) => malformed("case: (case key clause …)"),
            (Special::Case, rest) => self.case(rest, scope, form.at),
            (Special::Do, rest) => self.do_form(rest, scope, form.at),
            (
                Special::Define
                | Special::DefineValues
                | Special::DefineRecord
                | Special::DefineSyntax,
                _,
            ) => fault(form.at, "a definition where an expression is needed"),
            (Special::Import | Special::DefineLibrary, _) => {
                fault(form.at, "import and define-library belong to the top level")
            }
            (Special::CProcedure, parts) => self.c_procedure(parts, form.at),
            (Special::SyntaxRules, _) => {
                fault(form.at, "syntax-rules outside the definition of a macro")
            }
            (Special::Auxiliary, _) => {
                let name = items[0].as_id().map(|id| self.name(id));
                fault(
                    form.at,
                    format!("{} used outside the form it belongs to", name.unwrap_or_default()),
                )
            }
        }
    }

    /// The formals and body of a procedure.
    pub(super) fn clause(
        &mut self,
        formals: &Form,
        body: &[Form],
        scope: ScopeId,
        at: Place,
    ) -> Outcome<Clause> {
        let inner = self.scope(scope);
        let (required, rest) = self.formals(formals)?;
        let params = required.into_iter().map(|id| self.local(id, inner)).collect();
        let rest = rest.map(|id| self.local(id, inner));
        let body = self.body(body, inner, at)?;
        Ok(Clause { params, rest, body })
    }

    /// The identifiers of formals, all different.
    pub(super) fn formals(&self, formals: &Form) -> Outcome<(Vec<Ident>, Option<Ident>)> {
        let none = Vec::new();
        let (items, rest) = match &*formals.kind {
            Kind::Id(id) => (&none, Some(*id)),
            Kind::List(items, None) => (items, None),
            Kind::List(items, Some(tail)) => match tail.as_id() {
                Some(id) => (items, Some(id)),
                None => return fault(tail.at, "a parameter must be an identifier"),
            },
            _ => return fault(formals.at, "malformed parameters"),
        };
        let mut ids: Vec<Ident> = Vec::new();
        for item in items {
            match item.as_id() {
                Some(id) if ids.contains(&id) || rest == Some(id) => {
                    return fault(
                        item.at,
                        format!("the parameter {} appears twice", self.name(id)),
                    );
                }
                Some(id) => ids.push(id),
                None => return fault(item.at, "a parameter must be an identifier"),
            }
        }
        Ok((ids, rest))
    }

    fn assign(&mut self, id: Ident, value: &Form, scope: ScopeId, at: Place) -> Outcome<Expr> {
        let value = Box::new(self.expr(value, scope)?);
        match self.resolve(id, scope) {
            Some(Binding::Local(var)) => {
                self.program.vars[var.0 as usize].assigned = true;
                Ok(Expr::SetLocal(var, value))
            }
            Some(Binding::Global(global)) => {
                self.program.globals[global.0 as usize].assigned = true;
                Ok(Expr::SetGlobal(global, value, at))
            }
            None => {
                let global = self.forward(id, scope, at);
                self.program.globals[global.0 as usize].assigned = true;
                Ok(Expr::SetGlobal(global, value, at))
            }
            Some(_) => fault(at, format!("{} cannot be assigned", self.name(id))),
        }
    }

    /// The forms of files that `include` names; `include-ci` folds the case of names in them.
    pub(super) fn included(&mut self, files: &[Form], fold: bool, at: Place) -> Outcome<Vec<Form>> {
        if files.is_empty() {
            return fault(at, "include needs the names of files");
        }
        let mut forms = Vec::new();
        for file in files {
            let Kind::Atom(allod_scheme_datum::Node::String(name)) = &*file.kind else {
                return fault(at, "include needs the names of files");
            };
            let data = self.sources.include(name, fold, file.at)?;
            forms.extend(data.iter().map(|datum| Form::of(datum, &mut self.idents)));
        }
        Ok(forms)
    }

    /// Gives a procedure the name of the variable that it is bound to.
    pub(super) fn named(mut expr: Expr, name: &Rc<str>) -> Expr {
        if let Expr::Lambda(lambda) = &mut expr
            && &*lambda.name == ANONYMOUS
        {
            lambda.name = name.clone();
        }
        expr
    }
}
