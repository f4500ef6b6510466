//! C functions as procedures: `(c-procedure "name" (type …) type)`, of `(allod ffi)`.

use super::special::ANONYMOUS;
use super::{Expander, Outcome, fault};
use crate::core::{Clause, Expr, Lambda};
use crate::foreign::{CType, Foreign, Kind};
use crate::prims::Prim;
use crate::syntax::{Form, Kind as Syntax};
use allod_scheme_datum::{Node, Place};

const SHAPE: &str = "malformed c-procedure: (c-procedure \"name\" (type …) type) or the same with a header at the end";

impl Expander<'_> {
    /// A procedure that checks its arguments and calls a C function.
    pub(super) fn c_procedure(&mut self, parts: &[Form], at: Place) -> Outcome<Expr> {
        let (name, params, result, header) = match parts {
            [name, params, result] => (name, params, result, None),
            [name, params, result, header] => (name, params, result, Some(header)),
            _ => return fault(at, SHAPE),
        };
        let Some(items) = params.items() else { return fault(params.at, SHAPE) };
        let foreign = Foreign {
            name: c_name(name)?,
            header: header.map(header_name).transpose()?,
            params: items.iter().map(|item| self.c_type(item)).collect::<Outcome<_>>()?,
            result: self.c_type(result)?,
        };
        if let Some(i) = foreign.params.iter().position(|t| t.kind == Kind::Void) {
            return fault(items[i].at, "void is a type of results only");
        }
        let (takes, number) = (foreign.params.len(), self.program.foreign.len());
        let prim = Prim::foreign(&foreign.name, takes, number);
        self.program.foreign.push(foreign);
        let params: Vec<_> = items.iter().map(|_| self.program.var("argument")).collect();
        let arguments = params.iter().map(|param| Expr::Local(*param)).collect();
        let clause = Clause { params, rest: None, body: Expr::Prim(prim, arguments, at) };
        Ok(Expr::Lambda(Lambda { name: ANONYMOUS.into(), clauses: vec![clause], at }))
    }

    fn c_type(&self, form: &Form) -> Outcome<&'static CType> {
        let name = form.as_id().map(|id| self.name(id));
        match name.as_deref().and_then(CType::find) {
            Some(found) => Ok(found),
            None => {
                let shown = crate::text::datum(&form.datum(&self.idents));
                fault(form.at, format!("{shown} is no type of C's; there are {}", CType::names()))
            }
        }
    }
}

/// The text of a string, if it consists of such letters.
fn text(form: &Form, may_have: fn(char) -> bool, what: &str) -> Outcome<String> {
    match &*form.kind {
        Syntax::Atom(Node::String(text)) if !text.is_empty() && text.chars().all(may_have) => {
            Ok(text.to_string())
        }
        _ => fault(form.at, format!("{what}, as a string")),
    }
}

fn c_name(form: &Form) -> Outcome<String> {
    let what = "the name of a C function is needed";
    let name = text(form, |c| c.is_ascii_alphanumeric() || c == '_', what)?;
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        return fault(form.at, format!("{what}, as a string"));
    }
    Ok(name)
}

fn header_name(form: &Form) -> Outcome<String> {
    let may_have = |c: char| c.is_ascii_alphanumeric() || "_-+./".contains(c);
    text(form, may_have, "the name of a header is needed")
}
