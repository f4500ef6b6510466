//! Special forms that are made of others: `let`, `cond`, `case`, `do`, `quasiquote` and their like.

use super::{Expander, Outcome, fault};
use crate::core::{Clause, Const, Expr, Lambda};
use crate::prims::{self, Prim};
use crate::syntax::{Form, Ident, Kind, ScopeId};
use allod_scheme_datum::{Datum, Node, Place};
use std::rc::Rc;

fn prim(name: &str) -> &'static Prim {
    prims::find(name).expect("the primitive is in the table")
}

fn boolean(b: bool) -> Expr {
    Expr::Const(Const::Datum(Rc::new(Datum { node: Node::Bool(b), at: Place::default() })))
}

impl Expander<'_> {
    /// The names and values of `((name value) …)`.
    fn bindings<'f>(&self, form: &'f Form) -> Outcome<Vec<(Ident, &'f Form)>> {
        let Some(items) = form.items() else {
            return fault(form.at, "malformed bindings: ((name value) …)");
        };
        let pair = |item: &'f Form| match item.items() {
            Some([name, value]) if name.as_id().is_some() => {
                Ok((name.as_id().expect("tested"), value))
            }
            _ => fault(item.at, "a binding must be (name value)"),
        };
        items.iter().map(pair).collect()
    }

    fn distinct(&self, bindings: &[(Ident, &Form)]) -> Outcome<()> {
        for (i, (id, value)) in bindings.iter().enumerate() {
            if bindings[..i].iter().any(|(other, _)| other == id) {
                return fault(value.at, format!("{} is bound twice", self.name(*id)));
            }
        }
        Ok(())
    }

    pub(super) fn let_form(&mut self, rest: &[Form], scope: ScopeId, at: Place) -> Outcome<Expr> {
        match rest {
            [name, bindings, body @ ..] if name.as_id().is_some() => {
                let name = name.as_id().expect("tested");
                let bindings = self.bindings(bindings)?;
                self.distinct(&bindings)?;
                let mut values = Vec::new();
                for (_, value) in &bindings {
                    values.push(self.expr(value, scope)?);
                }
                let outer = self.scope(scope);
                let procedure = self.local(name, outer);
                let inner = self.scope(outer);
                let params = bindings.iter().map(|(id, _)| self.local(*id, inner)).collect();
                let body = self.body(body, inner, at)?;
                let lambda = Lambda {
                    name: self.name(name),
                    clauses: vec![Clause { params, rest: None, body }],
                    at,
                };
                let call = Expr::Call(Box::new(Expr::Local(procedure)), values, at);
                Ok(Expr::Letrec(vec![(procedure, Expr::Lambda(lambda))], Box::new(call)))
            }
            [bindings, body @ ..] => {
                let bindings = self.bindings(bindings)?;
                self.distinct(&bindings)?;
                let inner = self.scope(scope);
                let mut bound = Vec::new();
                for (id, value) in bindings {
                    let value = self.expr(value, scope)?;
                    let name = self.name(id);
                    bound.push((self.local(id, inner), Self::named(value, &name)));
                }
                let body = self.body(body, inner, at)?;
                Ok(Expr::Let(bound, Box::new(body)))
            }
            [] => fault(at, "malformed let: (let ((name value) …) body …)"),
        }
    }

    pub(super) fn let_star(&mut self, rest: &[Form], scope: ScopeId, at: Place) -> Outcome<Expr> {
        let [bindings, body @ ..] = rest else {
            return fault(at, "malformed let*: (let* ((name value) …) body …)");
        };
        let mut scope = scope;
        let mut bound = Vec::new();
        for (id, value) in self.bindings(bindings)? {
            let value = self.expr(value, scope)?;
            scope = self.scope(scope);
            let name = self.name(id);
            bound.push((self.local(id, scope), Self::named(value, &name)));
        }
        let inner = self.scope(scope);
        let body = self.body(body, inner, at)?;
        Ok(bound.into_iter().rev().fold(body, |body, one| Expr::Let(vec![one], Box::new(body))))
    }

    pub(super) fn letrec(&mut self, rest: &[Form], scope: ScopeId, at: Place) -> Outcome<Expr> {
        let [bindings, body @ ..] = rest else {
            return fault(at, "malformed letrec: (letrec ((name value) …) body …)");
        };
        let bindings = self.bindings(bindings)?;
        self.distinct(&bindings)?;
        let inner = self.scope(scope);
        let vars: Vec<_> = bindings.iter().map(|(id, _)| self.local(*id, inner)).collect();
        let mut bound = Vec::new();
        for ((id, value), var) in bindings.into_iter().zip(vars) {
            let value = self.expr(value, inner)?;
            let name = self.name(id);
            bound.push((var, Self::named(value, &name)));
        }
        let body = self.body(body, inner, at)?;
        Ok(Expr::Letrec(bound, Box::new(body)))
    }

    pub(super) fn and(&mut self, rest: &[Form], scope: ScopeId) -> Outcome<Expr> {
        let Some((last, first)) = rest.split_last() else { return Ok(boolean(true)) };
        let mut result = self.expr(last, scope)?;
        for form in first.iter().rev() {
            let test = self.expr(form, scope)?;
            result = Expr::If(Box::new(test), Box::new(result), Box::new(boolean(false)));
        }
        Ok(result)
    }

    pub(super) fn or(&mut self, rest: &[Form], scope: ScopeId) -> Outcome<Expr> {
        let Some((last, first)) = rest.split_last() else { return Ok(boolean(false)) };
        let mut result = self.expr(last, scope)?;
        for form in first.iter().rev() {
            let test = self.expr(form, scope)?;
            result = self.either(test, result);
        }
        Ok(result)
    }

    fn either(&mut self, test: Expr, other: Expr) -> Expr {
        if let Expr::Prim(prim, ..) = &test
            && prim.is_truth()
        {
            return Expr::If(Box::new(test), Box::new(boolean(true)), Box::new(other));
        }
        let var = self.program.var("or");
        let kept = Expr::Local(var);
        let choice = Expr::If(Box::new(kept.clone()), Box::new(kept), Box::new(other));
        Expr::Let(vec![(var, test)], Box::new(choice))
    }

    pub(super) fn cond(&mut self, clauses: &[Form], scope: ScopeId) -> Outcome<Expr> {
        let Some((clause, more)) = clauses.split_first() else { return Ok(Expr::UNSPECIFIED) };
        let Some([test, body @ ..]) = clause.items() else {
            return fault(clause.at, "malformed cond: a clause is (test body …)");
        };
        if test.as_id().is_some_and(|id| self.is_base(id, scope, "else")) {
            if !more.is_empty() {
                return fault(test.at, "else must be the last clause");
            }
            if body.is_empty() {
                return fault(clause.at, "malformed cond: (else body …)");
            }
            return Ok(Expr::seq(self.all(body, scope)?));
        }
        let test = self.expr(test, scope)?;
        if body.is_empty() {
            let other = self.cond(more, scope)?;
            return Ok(self.either(test, other));
        }
        if body[0].as_id().is_some_and(|id| self.is_base(id, scope, "=>")) {
            let [_, receiver] = body else {
                return fault(clause.at, "malformed cond: (test => receiver)");
            };
            let var = self.program.var("test");
            let receiver = self.expr(receiver, scope)?;
            let call = Expr::Call(Box::new(receiver), vec![Expr::Local(var)], clause.at);
            let other = self.cond(more, scope)?;
            let choice = Expr::If(Box::new(Expr::Local(var)), Box::new(call), Box::new(other));
            return Ok(Expr::Let(vec![(var, test)], Box::new(choice)));
        }
        let body = Expr::seq(self.all(body, scope)?);
        let other = self.cond(more, scope)?;
        Ok(Expr::If(Box::new(test), Box::new(body), Box::new(other)))
    }

    pub(super) fn case(&mut self, rest: &[Form], scope: ScopeId, at: Place) -> Outcome<Expr> {
        let [key, clauses @ ..] = rest else {
            return fault(at, "malformed case: (case key clause …)");
        };
        let key = self.expr(key, scope)?;
        let var = self.program.var("key");
        let mut result = Expr::UNSPECIFIED;
        for (i, clause) in clauses.iter().enumerate().rev() {
            let Some([data, body @ ..]) = clause.items().filter(|items| items.len() > 1) else {
                return fault(clause.at, "malformed case: a clause is ((datum …) body …)");
            };
            let body = match body {
                [arrow, receiver]
                    if arrow.as_id().is_some_and(|id| self.is_base(id, scope, "=>")) =>
                {
                    let receiver = self.expr(receiver, scope)?;
                    Expr::Call(Box::new(receiver), vec![Expr::Local(var)], clause.at)
                }
                body => Expr::seq(self.all(body, scope)?),
            };
            if data.as_id().is_some_and(|id| self.is_base(id, scope, "else")) {
                if i + 1 != clauses.len() {
                    return fault(data.at, "else must be the last clause");
                }
                result = body;
                continue;
            }
            let Some(data) = data.items() else {
                return fault(data.at, "malformed case: a clause is ((datum …) body …)");
            };
            let mut test = boolean(false);
            for datum in data.iter().rev() {
                let same = Expr::Prim(prim("eqv?"), vec![Expr::Local(var), self.quoted(datum)], at);
                test = match test {
                    Expr::Const(_) => same,
                    other => Expr::If(Box::new(same), Box::new(boolean(true)), Box::new(other)),
                };
            }
            result = Expr::If(Box::new(test), Box::new(body), Box::new(result));
        }
        Ok(Expr::Let(vec![(var, key)], Box::new(result)))
    }

    pub(super) fn do_form(&mut self, rest: &[Form], scope: ScopeId, at: Place) -> Outcome<Expr> {
        let [specs, end, body @ ..] = rest else {
            return fault(at, "malformed do: (do ((name first next) …) (test result …) body …)");
        };
        let (Some(specs), Some([test, results @ ..])) = (specs.items(), end.items()) else {
            return fault(at, "malformed do: (do ((name first next) …) (test result …) body …)");
        };
        let name = self.program.var("do");
        let inner = self.scope(scope);
        let (mut firsts, mut params, mut nexts) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = Vec::new();
        for spec in specs {
            let (id, first, next) = match spec.items() {
                Some([id, first]) => (id, first, None),
                Some([id, first, next]) => (id, first, Some(next)),
                _ => return fault(spec.at, "malformed do: a variable is (name first next)"),
            };
            let Some(id) = id.as_id() else {
                return fault(spec.at, "malformed do: a variable is (name first next)");
            };
            if seen.contains(&id) {
                return fault(spec.at, format!("{} is bound twice", self.name(id)));
            }
            seen.push(id);
            firsts.push(self.expr(first, scope)?);
            params.push(self.local(id, inner));
            nexts.push(next);
        }
        let test = self.expr(test, inner)?;
        let results = Expr::seq(self.all(results, inner)?);
        let mut work = self.all(body, inner)?;
        let mut arguments = Vec::new();
        for (next, param) in nexts.into_iter().zip(&params) {
            arguments.push(match next {
                Some(next) => self.expr(next, inner)?,
                None => Expr::Local(*param),
            });
        }
        work.push(Expr::Call(Box::new(Expr::Local(name)), arguments, at));
        let body = Expr::If(Box::new(test), Box::new(results), Box::new(Expr::seq(work)));
        let lambda =
            Lambda { name: "do".into(), clauses: vec![Clause { params, rest: None, body }], at };
        let call = Expr::Call(Box::new(Expr::Local(name)), firsts, at);
        Ok(Expr::Letrec(vec![(name, Expr::Lambda(lambda))], Box::new(call)))
    }

    /// The content of a template of `quasiquote`, `depth` of them deep.
    pub(super) fn quasi(&mut self, form: &Form, depth: u32, scope: ScopeId) -> Outcome<Expr> {
        if !self.has_unquote(form, scope) {
            return Ok(self.quoted(form));
        }
        match &*form.kind {
            Kind::Vector(items) => {
                let list = self.quasi_list(items, None, depth, scope, form.at)?;
                Ok(Expr::Prim(prim("list->vector"), vec![list], form.at))
            }
            Kind::List(items, tail) => {
                if let ([head, inner], None) = (items.as_slice(), tail) {
                    let step = match head.as_id() {
                        Some(id) if self.is_base(id, scope, "unquote") => -1,
                        Some(id) if self.is_base(id, scope, "quasiquote") => 1,
                        _ => 0,
                    };
                    if step == -1 && depth == 1 {
                        return self.expr(inner, scope);
                    }
                    if step != 0 {
                        let depth = depth.wrapping_add_signed(step);
                        return self.quasi_form(head, inner, depth, scope, form.at);
                    }
                }
                self.quasi_list(items, tail.as_ref(), depth, scope, form.at)
            }
            _ => Ok(self.quoted(form)),
        }
    }

    /// `(head inner)` within a template, where `inner` may be spliced in and so be none or many.
    fn quasi_form(
        &mut self,
        head: &Form,
        inner: &Form,
        depth: u32,
        scope: ScopeId,
        at: Place,
    ) -> Outcome<Expr> {
        let inner = self.quasi_list(std::slice::from_ref(inner), None, depth, scope, at)?;
        Ok(Expr::Prim(prim("cons"), vec![self.quoted(head), inner], at))
    }

    fn quasi_list(
        &mut self,
        items: &[Form],
        tail: Option<&Form>,
        depth: u32,
        scope: ScopeId,
        at: Place,
    ) -> Outcome<Expr> {
        // (a . (unquote b)) reads as (a unquote b).
        if let [first, inner] = items
            && tail.is_none()
            && depth == 1
            && first.as_id().is_some_and(|id| self.is_base(id, scope, "unquote"))
        {
            return self.expr(inner, scope);
        }
        let Some((first, rest)) = items.split_first() else {
            return match tail {
                Some(tail) => self.quasi(tail, depth, scope),
                None => Ok(Expr::Const(Const::Datum(Rc::new(Datum {
                    node: Node::List(Vec::new(), None),
                    at,
                })))),
            };
        };
        if let Some([head, inner]) = first.items()
            && head.as_id().is_some_and(|id| self.is_base(id, scope, "unquote-splicing"))
        {
            if depth == 1 {
                let list = self.expr(inner, scope)?;
                if rest.is_empty() && tail.is_none() {
                    return Ok(list);
                }
                let more = self.quasi_list(rest, tail, depth, scope, at)?;
                return Ok(Expr::Prim(prim("%append2"), vec![list, more], at));
            }
            let first = self.quasi_form(head, inner, depth - 1, scope, at)?;
            let more = self.quasi_list(rest, tail, depth, scope, at)?;
            return Ok(Expr::Prim(prim("cons"), vec![first, more], at));
        }
        let first = self.quasi(first, depth, scope)?;
        let more = self.quasi_list(rest, tail, depth, scope, at)?;
        Ok(Expr::Prim(prim("cons"), vec![first, more], at))
    }

    fn has_unquote(&self, form: &Form, scope: ScopeId) -> bool {
        match &*form.kind {
            Kind::Id(id) => {
                ["unquote", "unquote-splicing"].iter().any(|name| self.is_base(*id, scope, name))
            }
            Kind::List(items, tail) => items.iter().chain(tail).any(|f| self.has_unquote(f, scope)),
            Kind::Vector(items) => items.iter().any(|f| self.has_unquote(f, scope)),
            _ => false,
        }
    }
}
