//! Bodies and top levels: definitions first, then what they are used in.

use super::special::Special;
use super::{Binding, Expander, Outcome, fault};
use crate::core::{Expr, Global};
use crate::syntax::{Form, Ident, Kind, ScopeId};
use allod_scheme_datum::Place;

/// What a form of a body turns out to be.
#[derive(Debug)]
enum Item {
    /// A variable and its value.
    Define(Ident, Form, Place),
    /// Several forms in its place.
    Splice(Vec<Form>),
    /// The same, in a scope of their own.
    Scoped(Vec<Form>, ScopeId),
    /// A macro, bound already.
    Nothing,
    /// An expression.
    Expr(Form),
}

/// A definition's name and its scope, or nothing for an expression; the form; and the form's scope.
type Found = (Option<(Ident, ScopeId)>, Form, ScopeId);

impl Expander<'_> {
    /// Finds out what a form is, using macros as far as that needs.
    fn item(&mut self, form: &Form, scope: ScopeId) -> Outcome<Item> {
        let mut form = form.clone();
        loop {
            let special = match self.keyword(&form, scope) {
                Some(Binding::Macro(rules)) => {
                    form = self.use_macros(&rules, &form, scope)?;
                    continue;
                }
                Some(Binding::Special(special)) => special,
                _ => return Ok(Item::Expr(form)),
            };
            let Some(items) = form.items() else { return fault(form.at, "a dot in a form") };
            let rest = &items[1..];
            return Ok(match (special, rest) {
                (Special::Begin, _) => Item::Splice(rest.to_vec()),
                (Special::Define, _) => self.definition(rest, form.at)?,
                (Special::DefineValues, [formals, value]) => {
                    Item::Splice(self.define_values(formals, value, form.at)?)
                }
                (Special::DefineValues, _) => {
                    return fault(
                        form.at,
                        "malformed define-values: (define-values formals value)",
                    );
                }
                (Special::DefineRecord, _) => Item::Splice(self.record(rest, form.at)?),
                (Special::DefineSyntax, [name, rules]) => {
                    let Some(id) = name.as_id() else {
                        return fault(
                            name.at,
                            "malformed define-syntax: (define-syntax name rules)",
                        );
                    };
                    let binding = self.transformer(rules, scope)?;
                    self.bind(scope, id, binding);
                    Item::Nothing
                }
                (Special::DefineSyntax, _) => {
                    return fault(form.at, "malformed define-syntax: (define-syntax name rules)");
                }
                (Special::LetSyntax, [bindings, body @ ..]) => {
                    let inner = self.scope(scope);
                    let recursive =
                        items[0].as_id().is_some_and(|id| &*self.name(id) == "letrec-syntax");
                    let Some(bindings) = bindings.items() else {
                        return fault(bindings.at, "malformed bindings: ((name rules) …)");
                    };
                    for binding in bindings {
                        let Some([name, rules]) = binding.items() else {
                            return fault(binding.at, "a binding must be (name rules)");
                        };
                        let Some(id) = name.as_id() else {
                            return fault(name.at, "a binding must be (name rules)");
                        };
                        let rules =
                            self.transformer(rules, if recursive { inner } else { scope })?;
                        self.bind(inner, id, rules);
                    }
                    Item::Scoped(body.to_vec(), inner)
                }
                (Special::LetSyntax, _) => {
                    return fault(
                        form.at,
                        "malformed let-syntax: (let-syntax ((name rules) …) body …)",
                    );
                }
                (Special::CondExpand, _) => Item::Splice(self.chosen(rest, form.at)?),
                (Special::Include | Special::IncludeCi, _) => {
                    let fold = special == Special::IncludeCi;
                    Item::Splice(self.included(rest, fold, form.at)?)
                }
                _ => Item::Expr(form),
            });
        }
    }

    /// A definition's name and value. `(define ((f a) b) …)` is a procedure that gives one.
    fn definition(&mut self, items: &[Form], at: Place) -> Outcome<Item> {
        match items {
            [target, value] if target.as_id().is_some() => {
                Ok(Item::Define(target.as_id().expect("tested"), value.clone(), at))
            }
            [target, body @ ..] if !body.is_empty() => {
                let Kind::List(parts, tail) = &*target.kind else {
                    return fault(
                        at,
                        "malformed define: (define name value) or (define (name . formals) body …)",
                    );
                };
                let Some((name, params)) = parts.split_first() else {
                    return fault(at, "malformed define: the name is missing");
                };
                let formals = match (params, tail) {
                    ([], Some(rest)) => rest.clone(),
                    _ => Form::new(Kind::List(params.to_vec(), tail.clone()), target.at),
                };
                let mut lambda = vec![self.base_form("lambda", at), formals];
                lambda.extend(body.iter().cloned());
                self.definition(&[name.clone(), Form::list(lambda, at)], at)
            }
            _ => fault(
                at,
                "malformed define: (define name value) or (define (name . formals) body …)",
            ),
        }
    }

    fn define_values(&mut self, formals: &Form, value: &Form, at: Place) -> Outcome<Vec<Form>> {
        let (ids, rest) = self.formals(formals)?;
        let plain = self.idents.plain("values");
        let all = Form::id(self.idents.alias(plain, super::BASE), at);
        let list = |items: Vec<Form>| Form::list(items, at);
        let (define, lambda) = (self.base_form("define", at), self.base_form("lambda", at));
        let (call, to_list) = (self.base_form("call-with-values", at), self.base_form("list", at));
        let (car, cdr) = (self.base_form("car", at), self.base_form("%rest-of-values", at));
        let last = self.base_form("%no-more-values", at);
        let nil = Form::list(Vec::new(), at);
        let thunk = list(vec![lambda, nil, value.clone()]);
        let mut forms =
            vec![list(vec![define.clone(), all.clone(), list(vec![call, thunk, to_list])])];
        let mut values = all;
        for id in ids {
            let name = Form::id(id, at);
            forms.push(list(vec![define.clone(), name, list(vec![car.clone(), values.clone()])]));
            let plain = self.idents.plain("values");
            let next = Form::id(self.idents.alias(plain, super::BASE), at);
            forms.push(list(vec![define.clone(), next.clone(), list(vec![cdr.clone(), values])]));
            values = next;
        }
        forms.push(match rest {
            Some(id) => list(vec![define, Form::id(id, at), values]),
            None => {
                let plain = self.idents.plain("values");
                let end = Form::id(self.idents.alias(plain, super::BASE), at);
                list(vec![define, end, list(vec![last, values])])
            }
        });
        Ok(forms)
    }

    /// A body: its definitions are visible in all of it.
    pub(super) fn body(&mut self, forms: &[Form], scope: ScopeId, at: Place) -> Outcome<Expr> {
        let inner = self.scope(scope);
        let mut found: Vec<Found> = Vec::new();
        // What is still to be looked at, the next form last.
        let mut waiting: Vec<(Form, ScopeId)> =
            forms.iter().rev().map(|f| (f.clone(), inner)).collect();
        while let Some((form, scope)) = waiting.pop() {
            match self.item(&form, scope)? {
                Item::Define(id, value, at) => {
                    if found.iter().any(|(name, ..)| *name == Some((id, scope))) {
                        return fault(at, format!("{} is defined twice", self.name(id)));
                    }
                    self.local(id, scope);
                    // Definitions inside let-syntax belong to the body around it.
                    if scope != inner {
                        let binding = self.resolve(id, scope).expect("bound above");
                        self.bind(inner, id, binding);
                    }
                    found.push((Some((id, scope)), value, scope));
                }
                Item::Splice(forms) => waiting.extend(forms.into_iter().rev().map(|f| (f, scope))),
                Item::Scoped(forms, scope) => {
                    waiting.extend(forms.into_iter().rev().map(|f| (f, scope)));
                }
                Item::Nothing => {}
                Item::Expr(form) => found.push((None, form, scope)),
            }
        }
        let definitions = found.iter().rposition(|(name, ..)| name.is_some()).map_or(0, |i| i + 1);
        if definitions == found.len() {
            let after = if found.is_empty() { "" } else { " after its definitions" };
            return fault(at, format!("a body without an expression{after}"));
        }
        let mut bound = Vec::new();
        let mut rest = Vec::new();
        for (i, (name, form, scope)) in found.into_iter().enumerate() {
            let value = self.expr(&form, scope)?;
            match name {
                Some((id, scope)) => {
                    let Some(Binding::Local(var)) = self.resolve(id, scope) else {
                        return fault(
                            form.at,
                            format!("{} is defined as a variable and as syntax", self.name(id)),
                        );
                    };
                    let name = self.name(id);
                    bound.push((var, Self::named(value, &name)));
                }
                None if i < definitions => bound.push((self.program.var("effect"), value)),
                None => rest.push(value),
            }
        }
        let rest = Expr::seq(rest);
        Ok(if bound.is_empty() { rest } else { Expr::Letrec(bound, Box::new(rest)) })
    }

    /// The forms of a program's or a library's top level.
    pub(super) fn top_level(&mut self, forms: &[Form], scope: ScopeId) -> Outcome<Vec<Expr>> {
        let mut done = Vec::new();
        let mut waiting: Vec<(Form, ScopeId)> =
            forms.iter().rev().map(|f| (f.clone(), scope)).collect();
        while let Some((form, scope)) = waiting.pop() {
            match self.item(&form, scope)? {
                Item::Define(id, value, at) => {
                    let global = self.define_global(id, scope, at);
                    let value = self.expr(&value, scope)?;
                    let name = self.name(id);
                    done.push(Expr::Define(global, Box::new(Self::named(value, &name))));
                }
                Item::Splice(forms) => waiting.extend(forms.into_iter().rev().map(|f| (f, scope))),
                Item::Scoped(forms, inner) => done.push(self.body(&forms, inner, form.at)?),
                Item::Nothing => {}
                Item::Expr(form) => {
                    if let Some(Binding::Special(Special::Import)) = self.keyword(&form, scope) {
                        self.import(&form, scope)?;
                    } else {
                        done.push(self.expr(&form, scope)?);
                    }
                }
            }
        }
        Ok(done)
    }

    /// The global that a definition at the top level gives a value. A name that was imported becomes the
    /// program's own.
    fn define_global(&mut self, id: Ident, scope: ScopeId, at: Place) -> Global {
        let known = match self.resolve(id, scope) {
            Some(Binding::Global(global)) if self.is_own(id, scope, global) => Some(global),
            _ => None,
        };
        let global = known.unwrap_or_else(|| {
            let global = self.new_global(self.name(id), at);
            self.bind(scope, id, Binding::Global(global));
            global
        });
        let info = &mut self.program.globals[global.0 as usize];
        info.defined += 1;
        if info.defined == 1 {
            info.at = at;
        }
        global
    }

    /// Whether a global was made by this top level rather than imported into it.
    fn is_own(&self, id: Ident, scope: ScopeId, global: Global) -> bool {
        debug_assert!(self.is_top(scope));
        self.scopes[scope.0 as usize].names.get(&id) == Some(&Binding::Global(global))
            && !self.imported.contains(&(scope.0, id))
    }
}
