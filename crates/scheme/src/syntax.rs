//! Forms as the expander sees them: data whose symbols are identifiers.
//!
//! An identifier is a plain symbol, or an **alias**: a name that a macro put into its expansion. An alias
//! stands for another identifier in the scope where the macro was defined, unless something binds the alias
//! itself. That is all there is to hygiene here.

use allod_scheme_datum::{Datum, Node, Place};
use std::collections::HashMap;
use std::rc::Rc;

/// An identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ident(u32);

/// A scope of the expander.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScopeId(pub u32);

/// All identifiers of a compilation.
#[derive(Debug, Default)]
pub struct Idents {
    names: Vec<Rc<str>>,
    alias_of: Vec<Option<(Ident, ScopeId)>>,
    plain: HashMap<Rc<str>, Ident>,
}

impl Idents {
    /// The identifier that is a plain symbol.
    pub fn plain(&mut self, name: &str) -> Ident {
        if let Some(known) = self.plain.get(name) {
            return *known;
        }
        let name: Rc<str> = name.into();
        let id = self.add(name.clone(), None);
        self.plain.insert(name, id);
        id
    }

    /// A new alias of an identifier as a scope knows it.
    pub fn alias(&mut self, of: Ident, scope: ScopeId) -> Ident {
        self.add(self.name(of).clone(), Some((of, scope)))
    }

    fn add(&mut self, name: Rc<str>, alias_of: Option<(Ident, ScopeId)>) -> Ident {
        self.names.push(name);
        self.alias_of.push(alias_of);
        Ident(self.names.len() as u32 - 1)
    }

    /// The symbol that an identifier is when quoted.
    pub fn name(&self, id: Ident) -> &Rc<str> {
        &self.names[id.0 as usize]
    }

    /// What an alias stands for.
    pub fn alias_of(&self, id: Ident) -> Option<(Ident, ScopeId)> {
        self.alias_of[id.0 as usize]
    }
}

/// A form and where it began.
#[derive(Clone, Debug)]
pub struct Form {
    /// What it is.
    pub kind: Rc<Kind>,
    /// Where it began.
    pub at: Place,
}

/// What a form can be.
#[derive(Debug)]
pub enum Kind {
    /// An identifier.
    Id(Ident),
    /// Anything that stands for itself.
    Atom(Node),
    /// A list, and what follows its dot.
    List(Vec<Form>, Option<Form>),
    /// A vector.
    Vector(Vec<Form>),
    /// `#0=…`.
    Label(u64, Form),
}

impl Form {
    /// A form at a place.
    pub fn new(kind: Kind, at: Place) -> Form {
        Form { kind: Rc::new(kind), at }
    }

    /// An identifier.
    pub fn id(id: Ident, at: Place) -> Form {
        Form::new(Kind::Id(id), at)
    }

    /// A proper list.
    pub fn list(items: Vec<Form>, at: Place) -> Form {
        Form::new(Kind::List(items, None), at)
    }

    /// The identifier that the form is.
    pub fn as_id(&self) -> Option<Ident> {
        match *self.kind {
            Kind::Id(id) => Some(id),
            _ => None,
        }
    }

    /// The items of the proper list that the form is.
    pub fn items(&self) -> Option<&[Form]> {
        match &*self.kind {
            Kind::List(items, None) => Some(items),
            _ => None,
        }
    }

    /// The form of a datum.
    pub fn of(datum: &Datum, idents: &mut Idents) -> Form {
        let all = |items: &[Datum], idents: &mut Idents| -> Vec<Form> {
            items.iter().map(|item| Form::of(item, idents)).collect()
        };
        let kind = match &datum.node {
            Node::Symbol(name) => Kind::Id(idents.plain(name)),
            Node::List(items, tail) => {
                Kind::List(all(items, idents), tail.as_ref().map(|tail| Form::of(tail, idents)))
            }
            Node::Vector(items) => Kind::Vector(all(items, idents)),
            Node::Label(n, inner) => Kind::Label(*n, Form::of(inner, idents)),
            other => Kind::Atom(other.clone()),
        };
        Form::new(kind, datum.at)
    }

    /// The datum of a form: aliases are the symbols that they were.
    pub fn datum(&self, idents: &Idents) -> Datum {
        let all = |items: &[Form]| items.iter().map(|item| item.datum(idents)).collect();
        let node = match &*self.kind {
            Kind::Id(id) => Node::Symbol(idents.name(*id).clone()),
            Kind::Atom(node) => node.clone(),
            Kind::List(items, tail) => {
                let mut items: Vec<Datum> = all(items);
                match tail.as_ref().map(|tail| tail.datum(idents)) {
                    Some(Datum { node: Node::List(more, end), .. }) => {
                        items.extend(more);
                        Node::List(items, end)
                    }
                    tail => Node::List(items, tail.map(Box::new)),
                }
            }
            Kind::Vector(items) => Node::Vector(all(items)),
            Kind::Label(n, inner) => Node::Label(*n, Box::new(inner.datum(idents))),
        };
        Datum { node, at: self.at }
    }
}
