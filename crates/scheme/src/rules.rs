//! `syntax-rules`: matching forms and filling templates.
//!
//! ```text
//! (syntax-rules ellipsis? (literal …) (pattern template) …)
//! pattern  = identifier | (pattern … ) | (pattern … pattern <ellipsis> pattern …) | the same dotted
//!          | #(pattern …) | datum
//! template = identifier | (element …) | (element … . template) | #(element …) | (<ellipsis> template) | datum
//! element  = template <ellipsis>*
//! ```
//! Every identifier that a template adds becomes an alias, a new one in each expansion.

use crate::syntax::{Form, Ident, Idents, Kind, ScopeId};
use allod_scheme_datum::{Fault, Node, Place};
use std::collections::HashMap;
use std::rc::Rc;

/// A macro.
#[derive(Debug)]
pub struct Rules {
    /// What means `...` here: one identifier that the form names, or each that is the base library's, for
    /// some may come from a macro and others from its use.
    ellipses: Vec<Ident>,
    literals: Vec<Ident>,
    rules: Vec<(Form, Form)>,
    /// Where it was defined.
    pub scope: ScopeId,
}

/// What a pattern variable matched.
#[derive(Clone, Debug)]
enum Match {
    One(Form),
    Many(Rc<Vec<Bindings>>),
}

type Bindings = HashMap<Ident, Match>;

/// Answers whether two identifiers mean the same: the pattern's where the macro is defined, the other where
/// it is used.
pub type SameMeaning<'a> = &'a dyn Fn(Ident, Ident) -> bool;

fn fault<T>(at: Place, message: impl Into<String>) -> Result<T, Fault> {
    Err(Fault { message: message.into(), at, at_end: false })
}

impl Rules {
    /// Takes in a `syntax-rules` form. `is` tells whether an identifier is the one of that name in the
    /// base library.
    pub fn new(
        form: &Form,
        scope: ScopeId,
        is: &dyn Fn(Ident, &str) -> bool,
    ) -> Result<Rules, Fault> {
        let items = form.items().unwrap_or_default();
        let (ellipsis, rest) = match items.get(1).and_then(Form::as_id) {
            Some(id) => (Some(id), &items[2..]),
            None => (None, items.get(1..).unwrap_or_default()),
        };
        let Some(literals) = rest.first().and_then(Form::items) else {
            return fault(form.at, "syntax-rules needs a list of literals");
        };
        let Some(literals) = literals.iter().map(Form::as_id).collect::<Option<Vec<_>>>() else {
            return fault(form.at, "the literals of syntax-rules must be identifiers");
        };
        let mut rules = Vec::new();
        for rule in &rest[1..] {
            match rule.items() {
                Some([pattern, template]) if matches!(&*pattern.kind, Kind::List(items, _) if !items.is_empty()) =>
                {
                    rules.push((pattern.clone(), template.clone()));
                }
                _ => return fault(rule.at, "a rule must be (pattern template)"),
            }
        }
        // Without one of its own, whatever means `...` where the macro is defined.
        let mut ellipses: Vec<Ident> = ellipsis.into_iter().collect();
        if ellipses.is_empty() {
            for (pattern, template) in &rules {
                find_ellipses(pattern, is, &mut ellipses);
                find_ellipses(template, is, &mut ellipses);
            }
        }
        ellipses.retain(|e| !literals.contains(e));
        let all = Rules { ellipses, literals, rules, scope };
        for (pattern, _) in &all.rules {
            let Kind::List(items, tail) = &*pattern.kind else { continue };
            all.well_formed(&items[1..], tail.as_ref(), is, &mut Vec::new())?;
        }
        Ok(all)
    }

    fn is_ellipsis(&self, form: &Form) -> bool {
        form.as_id().is_some_and(|id| self.ellipses.contains(&id))
    }

    /// A pattern has one ellipsis in each sequence, with something before it, and each variable once.
    fn well_formed(
        &self,
        items: &[Form],
        tail: Option<&Form>,
        is: &dyn Fn(Ident, &str) -> bool,
        seen: &mut Vec<Ident>,
    ) -> Result<(), Fault> {
        if let Some(first) = items.first().filter(|first| self.is_ellipsis(first)) {
            return fault(first.at, "nothing before this ellipsis is repeated");
        }
        if let Some(more) = items.iter().filter(|item| self.is_ellipsis(item)).nth(1) {
            return fault(more.at, "a second ellipsis in one sequence of a pattern");
        }
        for item in items.iter().chain(tail).filter(|item| !self.is_ellipsis(item)) {
            match &*item.kind {
                Kind::Id(id) if self.literals.contains(id) || is(*id, "_") => {}
                Kind::Id(id) if seen.contains(id) => {
                    return fault(item.at, "this variable appears twice in the pattern");
                }
                Kind::Id(id) => seen.push(*id),
                Kind::List(items, tail) => self.well_formed(items, tail.as_ref(), is, seen)?,
                Kind::Vector(items) => self.well_formed(items, None, is, seen)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The form's expansion.
    pub fn expand(
        &self,
        form: &Form,
        idents: &mut Idents,
        same: &dyn Fn(&Idents, Ident, Ident) -> bool,
        is: &dyn Fn(&Idents, Ident, &str) -> bool,
    ) -> Result<Form, Fault> {
        for (pattern, template) in &self.rules {
            let mut found = Bindings::new();
            let matched = {
                let matcher = Matcher {
                    rules: self,
                    same: &|a, b| same(idents, a, b),
                    is_underscore: &|id| is(idents, id, "_"),
                };
                // The keyword itself matches anything.
                match (&*pattern.kind, &*form.kind) {
                    (Kind::List(p, pt), Kind::List(f, ft)) => {
                        matcher.sequence(&p[1..], pt.as_ref(), &f[1..], ft.as_ref(), &mut found)
                    }
                    _ => false,
                }
            };
            if matched {
                let mut filler = Filler { rules: self, idents, fresh: HashMap::new(), at: form.at };
                return filler.fill(template, &found, &self.ellipses);
            }
        }
        fault(
            form.at,
            format!("{} does not fit any of the macro's patterns", name_of(form, idents)),
        )
    }
}

fn name_of(form: &Form, idents: &Idents) -> String {
    match &*form.kind {
        Kind::List(items, _) => match items.first().and_then(Form::as_id) {
            Some(id) => format!("this use of {}", idents.name(id)),
            None => "this form".into(),
        },
        _ => "this form".into(),
    }
}

fn find_ellipses(form: &Form, is: &dyn Fn(Ident, &str) -> bool, found: &mut Vec<Ident>) {
    match &*form.kind {
        Kind::Id(id) if is(*id, "...") && !found.contains(id) => found.push(*id),
        Kind::List(items, tail) => {
            items.iter().chain(tail).for_each(|item| find_ellipses(item, is, found));
        }
        Kind::Vector(items) => items.iter().for_each(|item| find_ellipses(item, is, found)),
        _ => {}
    }
}

struct Matcher<'a> {
    rules: &'a Rules,
    same: SameMeaning<'a>,
    is_underscore: &'a dyn Fn(Ident) -> bool,
}

impl Matcher<'_> {
    fn one(&self, pattern: &Form, form: &Form, found: &mut Bindings) -> bool {
        match (&*pattern.kind, &*form.kind) {
            (Kind::Id(id), other) => {
                if self.rules.literals.contains(id) {
                    return matches!(other, Kind::Id(used) if (self.same)(*id, *used));
                }
                if !(self.is_underscore)(*id) {
                    found.insert(*id, Match::One(form.clone()));
                }
                true
            }
            (Kind::List(p, pt), Kind::List(f, ft)) => {
                self.sequence(p, pt.as_ref(), f, ft.as_ref(), found)
            }
            (Kind::Vector(p), Kind::Vector(f)) => self.sequence(p, None, f, None, found),
            (Kind::Atom(p), Kind::Atom(f)) => same_atom(p, f),
            _ => false,
        }
    }

    fn sequence(
        &self,
        pattern: &[Form],
        pattern_tail: Option<&Form>,
        form: &[Form],
        form_tail: Option<&Form>,
        found: &mut Bindings,
    ) -> bool {
        let repeats = (1..pattern.len()).find(|&i| self.rules.is_ellipsis(&pattern[i]));
        let Some(dots) = repeats else {
            if form.len() < pattern.len() {
                return false;
            }
            let (first, more) = form.split_at(pattern.len());
            return pattern.iter().zip(first).all(|(p, f)| self.one(p, f, found))
                && self.tail(pattern_tail, more, form_tail, found);
        };
        let (before, after) = (&pattern[..dots - 1], &pattern[dots + 1..]);
        if form.len() < before.len() + after.len() {
            return false;
        }
        let (first, rest) = form.split_at(before.len());
        let (middle, last) = rest.split_at(rest.len() - after.len());
        if !before.iter().zip(first).all(|(p, f)| self.one(p, f, found)) {
            return false;
        }
        let repeated = &pattern[dots - 1];
        let mut all = Vec::new();
        for item in middle {
            let mut each = Bindings::new();
            if !self.one(repeated, item, &mut each) {
                return false;
            }
            all.push(each);
        }
        let all = Rc::new(all);
        for id in self.variables(repeated) {
            found.insert(id, Match::Many(all.clone()));
        }
        after.iter().zip(last).all(|(p, f)| self.one(p, f, found))
            && self.tail(pattern_tail, &[], form_tail, found)
    }

    fn tail(
        &self,
        pattern: Option<&Form>,
        more: &[Form],
        form_tail: Option<&Form>,
        found: &mut Bindings,
    ) -> bool {
        match (pattern, form_tail) {
            (None, None) => more.is_empty(),
            (None, Some(_)) => false,
            (Some(pattern), Some(form)) if more.is_empty() => self.one(pattern, form, found),
            (Some(pattern), tail) => {
                let at = more.first().or(tail).map_or(pattern.at, |f| f.at);
                let rest = Form::new(Kind::List(more.to_vec(), tail.cloned()), at);
                self.one(pattern, &rest, found)
            }
        }
    }

    fn variables(&self, pattern: &Form) -> Vec<Ident> {
        match &*pattern.kind {
            Kind::Id(id)
                if self.rules.literals.contains(id)
                    || self.rules.ellipses.contains(id)
                    || (self.is_underscore)(*id) =>
            {
                Vec::new()
            }
            Kind::Id(id) => vec![*id],
            Kind::List(items, tail) => {
                items.iter().chain(tail).flat_map(|item| self.variables(item)).collect()
            }
            Kind::Vector(items) => items.iter().flat_map(|item| self.variables(item)).collect(),
            _ => Vec::new(),
        }
    }
}

fn same_atom(a: &Node, b: &Node) -> bool {
    match (a, b) {
        (Node::Bool(a), Node::Bool(b)) => a == b,
        (Node::Number(a), Node::Number(b)) => a == b,
        (Node::Char(a), Node::Char(b)) => a == b,
        (Node::String(a), Node::String(b)) => a == b,
        (Node::Bytes(a), Node::Bytes(b)) => a == b,
        // Empty lists are lists; they do not come here.
        _ => false,
    }
}

struct Filler<'a> {
    rules: &'a Rules,
    idents: &'a mut Idents,
    fresh: HashMap<Ident, Ident>,
    at: Place,
}

impl Filler<'_> {
    fn fill(
        &mut self,
        template: &Form,
        found: &Bindings,
        ellipses: &[Ident],
    ) -> Result<Form, Fault> {
        let kind = match &*template.kind {
            Kind::Id(id) => match found.get(id) {
                Some(Match::One(form)) => return Ok(form.clone()),
                Some(Match::Many(_)) => {
                    let name = self.idents.name(*id);
                    return fault(template.at, format!("{name} needs an ellipsis in the template"));
                }
                None => {
                    let scope = self.rules.scope;
                    let idents = &mut *self.idents;
                    let alias = *self.fresh.entry(*id).or_insert_with(|| idents.alias(*id, scope));
                    return Ok(Form::id(alias, self.at));
                }
            },
            Kind::List(items, None) if items.len() == 2 && is(&items[0], ellipses) => {
                return self.fill(&items[1], found, &[]);
            }
            Kind::List(items, tail) => {
                let items = self.elements(items, found, ellipses)?;
                let tail = tail.as_ref().map(|t| self.fill(t, found, ellipses)).transpose()?;
                join(items, tail)
            }
            Kind::Vector(items) => Kind::Vector(self.elements(items, found, ellipses)?),
            Kind::Atom(node) => Kind::Atom(node.clone()),
            Kind::Label(n, inner) => Kind::Label(*n, self.fill(inner, found, ellipses)?),
        };
        Ok(Form::new(kind, self.at))
    }

    fn elements(
        &mut self,
        items: &[Form],
        found: &Bindings,
        ellipses: &[Ident],
    ) -> Result<Vec<Form>, Fault> {
        let mut filled = Vec::new();
        let mut i = 0;
        while i < items.len() {
            let mut depth = 0;
            while items.get(i + 1 + depth).is_some_and(|next| is(next, ellipses)) {
                depth += 1;
            }
            self.repeat(&items[i], found, ellipses, depth, &mut filled)?;
            i += 1 + depth;
        }
        Ok(filled)
    }

    fn repeat(
        &mut self,
        item: &Form,
        found: &Bindings,
        ellipses: &[Ident],
        depth: usize,
        filled: &mut Vec<Form>,
    ) -> Result<(), Fault> {
        if depth == 0 {
            filled.push(self.fill(item, found, ellipses)?);
            return Ok(());
        }
        let mut used = Vec::new();
        variables_of(item, found, &mut used);
        // Only what the item uses is carried into its repetitions.
        let mut each = Bindings::new();
        let mut many: Vec<(Ident, Rc<Vec<Bindings>>)> = Vec::new();
        for id in used {
            match &found[&id] {
                Match::Many(all) => many.push((id, all.clone())),
                one => drop(each.insert(id, one.clone())),
            }
        }
        let Some(longest) = many.iter().map(|(_, all)| all.len()).max() else {
            return fault(item.at, "nothing before this ellipsis is repeated");
        };
        for i in 0..longest {
            for (id, all) in &many {
                match all.get(i) {
                    Some(bindings) => each.insert(*id, bindings[id].clone()),
                    None => {
                        return fault(self.at, "repeated parts of a macro's use differ in length");
                    }
                };
            }
            self.repeat(item, &each, ellipses, depth - 1, filled)?;
        }
        Ok(())
    }
}

fn join(items: Vec<Form>, tail: Option<Form>) -> Kind {
    match tail {
        Some(tail) => match &*tail.kind {
            Kind::List(more, end) => {
                Kind::List(items.into_iter().chain(more.iter().cloned()).collect(), end.clone())
            }
            _ if items.is_empty() => match &*tail.kind {
                Kind::Id(id) => Kind::Id(*id),
                _ => Kind::List(items, Some(tail)),
            },
            _ => Kind::List(items, Some(tail)),
        },
        None => Kind::List(items, None),
    }
}

fn is(form: &Form, ellipses: &[Ident]) -> bool {
    form.as_id().is_some_and(|id| ellipses.contains(&id))
}

fn variables_of(template: &Form, found: &Bindings, used: &mut Vec<Ident>) {
    match &*template.kind {
        Kind::Id(id) if found.contains_key(id) => used.push(*id),
        Kind::List(items, tail) => {
            items.iter().chain(tail).for_each(|item| variables_of(item, found, used));
        }
        Kind::Vector(items) => items.iter().for_each(|item| variables_of(item, found, used)),
        _ => {}
    }
}
