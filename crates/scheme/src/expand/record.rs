//! `define-record-type`: definitions in its place.

use super::{Expander, Outcome, fault};
use crate::syntax::{Form, Kind};
use allod_scheme_datum::{Node, Number, Place};

impl Expander<'_> {
    /// `(define-record-type name (constructor field …) predicate (field accessor modifier) …)` as
    /// definitions.
    pub(super) fn record(&mut self, parts: &[Form], at: Place) -> Outcome<Vec<Form>> {
        let [name, constructor, predicate, fields @ ..] = parts else {
            return fault(
                at,
                "malformed define-record-type: (define-record-type name (constructor field …) predicate field …)",
            );
        };
        let name = match &*name.kind {
            Kind::List(items, _) if !items.is_empty() => items[0].clone(),
            _ => name.clone(),
        };
        if name.as_id().is_none() {
            return fault(name.at, "the name of a record type must be an identifier");
        }
        let mut names = Vec::new();
        for field in fields {
            let id = field.as_id().or_else(|| field.items()?.first()?.as_id());
            match id {
                Some(id) if names.contains(&id) => {
                    return fault(field.at, format!("the field {} appears twice", self.name(id)));
                }
                Some(id) => names.push(id),
                None => {
                    return fault(
                        field.at,
                        "a field must be (name accessor) or (name accessor modifier)",
                    );
                }
            }
        }
        let list = |items: Vec<Form>| Form::list(items, at);
        let define = self.base_form("define", at);
        let lambda = self.base_form("lambda", at);
        let quote = self.base_form("quote", at);
        let index = |i: usize| Form::new(Kind::Atom(Node::Number(Number::Int(i.into()))), at);
        let field_list = list(names.iter().map(|id| Form::id(*id, at)).collect());
        let make = self.base_form("%make-rtd", at);
        let quoted = |form: Form| list(vec![quote.clone(), form]);
        let mut forms = vec![list(vec![
            define.clone(),
            name.clone(),
            list(vec![make, quoted(name.clone()), quoted(field_list)]),
        ])];
        let arguments = match &*constructor.kind {
            Kind::Id(_) => Some((constructor.clone(), names.clone())),
            Kind::Atom(Node::Bool(false)) => None,
            Kind::List(items, None) if items.first().and_then(Form::as_id).is_some() => {
                let Some(arguments) =
                    items[1..].iter().map(Form::as_id).collect::<Option<Vec<_>>>()
                else {
                    return fault(constructor.at, "a constructor's field must be an identifier");
                };
                Some((items[0].clone(), arguments))
            }
            _ => return fault(constructor.at, "a constructor must be (name field …)"),
        };
        if let Some((constructor, arguments)) = arguments {
            for id in &arguments {
                if !names.contains(id) {
                    return fault(
                        constructor.at,
                        format!("{} is no field of this record", self.name(*id)),
                    );
                }
            }
            let record = self.base_form("%record", at);
            let mut call = vec![record, name.clone()];
            for id in &names {
                call.push(if arguments.contains(id) {
                    Form::id(*id, at)
                } else {
                    Form::new(Kind::Atom(Node::Bool(false)), at)
                });
            }
            let formals = list(arguments.iter().map(|id| Form::id(*id, at)).collect());
            forms.push(list(vec![
                define.clone(),
                constructor,
                list(vec![lambda.clone(), formals, list(call)]),
            ]));
        }
        let plain = self.idents.plain("record");
        let object = Form::id(self.idents.alias(plain, super::BASE), at);
        if predicate.as_id().is_none() && !matches!(&*predicate.kind, Kind::Atom(Node::Bool(false)))
        {
            return fault(predicate.at, "the predicate of a record type must be an identifier");
        }
        if predicate.as_id().is_some() {
            let is = self.base_form("%record?", at);
            let body = list(vec![is, object.clone(), name.clone()]);
            forms.push(list(vec![
                define.clone(),
                predicate.clone(),
                list(vec![lambda.clone(), list(vec![object.clone()]), body]),
            ]));
        }
        for (i, field) in fields.iter().enumerate() {
            let Some(parts) = field.items() else { continue };
            if parts.len() > 3 {
                return fault(
                    field.at,
                    "a field must be (name accessor) or (name accessor modifier)",
                );
            }
            if let Some(accessor) = parts.get(1) {
                let get = self.base_form("%record-ref", at);
                let body = list(vec![
                    get,
                    object.clone(),
                    name.clone(),
                    index(i),
                    quoted(accessor.clone()),
                ]);
                forms.push(list(vec![
                    define.clone(),
                    accessor.clone(),
                    list(vec![lambda.clone(), list(vec![object.clone()]), body]),
                ]));
            }
            if let Some(modifier) = parts.get(2) {
                let set = self.base_form("%record-set!", at);
                let plain = self.idents.plain("value");
                let value = Form::id(self.idents.alias(plain, super::BASE), at);
                let body = list(vec![
                    set,
                    object.clone(),
                    name.clone(),
                    index(i),
                    value.clone(),
                    quoted(modifier.clone()),
                ]);
                forms.push(list(vec![
                    define.clone(),
                    modifier.clone(),
                    list(vec![lambda.clone(), list(vec![object.clone(), value]), body]),
                ]));
            }
        }
        Ok(forms)
    }
}
