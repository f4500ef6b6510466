//! The expander: forms to the core language.
//!
//! ```text
//! takes  forms (`syntax`), as they were read
//! gives  the core language (`core`)
//! ```
//! Scopes are a tree. What an identifier means is looked up from the scope of its use outwards; an alias
//! that nothing binds means what it stands for, in the scope of its macro's definition.

mod body;
mod derived;
mod foreign;
mod library;
pub(crate) mod nary;
mod record;
mod special;

use crate::core::{Const, Expr, Global, GlobalInfo, Program, Var};
use crate::prims::{self, Prim};
use crate::rules::Rules;
use crate::source::Sources;
use crate::standard;
use crate::syntax::{Form, Ident, Idents, Kind, ScopeId};
use allod_scheme_datum::{Fault, Place};
use library::Library;
use nary::Nary;
use special::Special;
use std::collections::HashMap;
use std::rc::Rc;

/// What an identifier means.
#[derive(Clone, Debug)]
pub(crate) enum Binding {
    Special(Special),
    Macro(Rc<Rules>),
    Local(Var),
    Global(Global),
    Prim(&'static Prim),
    Nary(&'static Nary),
}

impl PartialEq for Binding {
    fn eq(&self, other: &Binding) -> bool {
        match (self, other) {
            (Binding::Special(a), Binding::Special(b)) => a == b,
            (Binding::Macro(a), Binding::Macro(b)) => Rc::ptr_eq(a, b),
            (Binding::Local(a), Binding::Local(b)) => a == b,
            (Binding::Global(a), Binding::Global(b)) => a == b,
            (Binding::Prim(a), Binding::Prim(b)) => a == b,
            (Binding::Nary(a), Binding::Nary(b)) => a.name == b.name,
            _ => false,
        }
    }
}

#[derive(Debug, Default)]
struct Scope {
    parent: Option<ScopeId>,
    names: HashMap<Ident, Binding>,
    /// The top level of a program or library: what is not bound there may be defined later.
    top: bool,
}

/// The scope of the prelude: all special forms, all primitives, what the prelude defines.
const BASE: ScopeId = ScopeId(0);

/// The state of an expansion.
pub(crate) struct Expander<'s> {
    pub(crate) idents: Idents,
    scopes: Vec<Scope>,
    pub(crate) program: Program,
    sources: &'s mut Sources,
    libraries: HashMap<String, Library>,
    /// What top levels have imported, which their definitions may shadow.
    imported: std::collections::HashSet<(u32, Ident)>,
    /// Libraries that are being read, to find circles.
    under_way: Vec<String>,
    /// Uses of macros inside of each other's expansions.
    expanding: u32,
}

/// Macros that expand to uses of themselves longer than this never end.
const EXPANSIONS: u32 = 100_000;

pub(crate) type Outcome<T> = Result<T, Fault>;

pub(crate) fn fault<T>(at: Place, message: impl Into<String>) -> Outcome<T> {
    Err(Fault { message: message.into(), at, at_end: false })
}

/// Expands the prelude and a program.
///
/// # Errors
/// When the program is no program.
pub fn expand(
    sources: &mut Sources,
    prelude: &[Form],
    idents: Idents,
    forms: &[Form],
) -> Outcome<Program> {
    let mut x = Expander {
        idents,
        scopes: vec![Scope { top: true, ..Scope::default() }],
        program: Program::default(),
        sources,
        libraries: HashMap::new(),
        imported: std::collections::HashSet::new(),
        under_way: Vec::new(),
        expanding: 0,
    };
    x.fill_base();
    let done = x.top_level(prelude, BASE)?;
    x.program.forms.extend(done);
    for hook in ["%raise", "%raise-continuable", "%exit-hook"] {
        let id = x.idents.plain(hook);
        if let Some(Binding::Global(global)) = x.resolve(id, BASE) {
            x.program.hooks.push((hook, global));
        }
    }
    x.run_program(forms)?;
    x.check_unbound()?;
    Ok(x.program)
}

impl Expander<'_> {
    fn fill_base(&mut self) {
        for (name, special) in special::ALL {
            let id = self.idents.plain(name);
            self.bind(BASE, id, Binding::Special(*special));
        }
        for prim in prims::PRIMS {
            let id = self.idents.plain(prim.name);
            self.bind(BASE, id, Binding::Prim(prim));
        }
        for nary in nary::ALL {
            let id = self.idents.plain(nary.name);
            self.bind(BASE, id, Binding::Nary(nary));
        }
    }

    pub(crate) fn scope(&mut self, parent: ScopeId) -> ScopeId {
        self.scopes.push(Scope { parent: Some(parent), ..Scope::default() });
        ScopeId(self.scopes.len() as u32 - 1)
    }

    fn top_scope(&mut self) -> ScopeId {
        self.scopes.push(Scope { top: true, ..Scope::default() });
        ScopeId(self.scopes.len() as u32 - 1)
    }

    pub(crate) fn bind(&mut self, scope: ScopeId, id: Ident, binding: Binding) {
        self.scopes[scope.0 as usize].names.insert(id, binding);
    }

    fn is_top(&self, scope: ScopeId) -> bool {
        self.scopes[scope.0 as usize].top
    }

    /// What an identifier means in a scope.
    pub(crate) fn resolve(&self, id: Ident, scope: ScopeId) -> Option<Binding> {
        let (mut id, mut scope) = (id, scope);
        loop {
            let mut at = Some(scope);
            while let Some(ScopeId(n)) = at {
                if let Some(binding) = self.scopes[n as usize].names.get(&id) {
                    return Some(binding.clone());
                }
                at = self.scopes[n as usize].parent;
            }
            (id, scope) = self.idents.alias_of(id)?;
        }
    }

    /// The top level above a scope, where an unbound identifier would be defined, and its plain name there.
    fn home(&self, id: Ident, scope: ScopeId) -> (Ident, ScopeId) {
        let (mut id, mut scope) = (id, scope);
        while let Some((of, at)) = self.idents.alias_of(id) {
            (id, scope) = (of, at);
        }
        while let Some(parent) = self.scopes[scope.0 as usize].parent {
            scope = parent;
        }
        (id, scope)
    }

    pub(crate) fn name(&self, id: Ident) -> Rc<str> {
        self.idents.name(id).clone()
    }

    /// An identifier of the base scope, whatever the program calls so.
    pub(crate) fn base(&mut self, name: &str) -> Ident {
        let id = self.idents.plain(name);
        self.idents.alias(id, BASE)
    }

    pub(crate) fn base_form(&mut self, name: &str, at: Place) -> Form {
        Form::id(self.base(name), at)
    }

    /// Whether an identifier is the base scope's of that name.
    pub(crate) fn is_base(&self, id: Ident, scope: ScopeId, name: &str) -> bool {
        if &**self.idents.name(id) != name {
            return false;
        }
        match self.resolve(id, scope) {
            Some(Binding::Special(special)) => {
                special::ALL.iter().any(|(n, s)| *n == name && *s == special)
            }
            _ => false,
        }
    }

    fn new_global(&mut self, name: Rc<str>, at: Place) -> Global {
        self.program.globals.push(GlobalInfo { name, at, defined: 0, assigned: false });
        Global(self.program.globals.len() as u32 - 1)
    }

    /// The global that an unbound identifier is: it may be defined later.
    fn forward(&mut self, id: Ident, scope: ScopeId, at: Place) -> Global {
        let (id, home) = self.home(id, scope);
        let global = self.new_global(self.name(id), at);
        self.bind(home, id, Binding::Global(global));
        global
    }

    fn check_unbound(&self) -> Outcome<()> {
        match self.program.globals.iter().find(|g| g.defined == 0) {
            Some(g) => match standard::refused_name(&g.name) {
                Some(why) => fault(g.at, format!("{} is not supported: {why}", g.name)),
                None if is_complex(&g.name) => fault(
                    g.at,
                    format!("{} is not supported: there are no complex numbers", g.name),
                ),
                None => fault(g.at, format!("unbound variable {}", g.name)),
            },
            None => Ok(()),
        }
    }

    pub(crate) fn local(&mut self, id: Ident, scope: ScopeId) -> Var {
        let name = self.name(id);
        let var = self.program.var(&name);
        self.bind(scope, id, Binding::Local(var));
        var
    }

    /// The macro or special form at a form's head.
    fn keyword(&self, form: &Form, scope: ScopeId) -> Option<Binding> {
        let Kind::List(items, _) = &*form.kind else { return None };
        let binding = self.resolve(items.first()?.as_id()?, scope)?;
        matches!(binding, Binding::Macro(_) | Binding::Special(_)).then_some(binding)
    }

    /// What a use of a macro becomes that is no use of a macro any more.
    pub(crate) fn use_macros(
        &mut self,
        rules: &Rc<Rules>,
        form: &Form,
        scope: ScopeId,
    ) -> Outcome<Form> {
        let mut expanded = self.use_macro(rules, form, scope)?;
        let mut steps = self.expanding;
        while let Some(Binding::Macro(rules)) = self.keyword(&expanded, scope) {
            expanded = self.use_macro(&rules, &expanded, scope)?;
            steps += 1;
            if steps == EXPANSIONS {
                return fault(form.at, "the expansion of this macro does not end");
            }
        }
        Ok(expanded)
    }

    fn use_macro(&mut self, rules: &Rules, form: &Form, scope: ScopeId) -> Outcome<Form> {
        let mut idents = std::mem::take(&mut self.idents);
        // What the two closures ask is asked of identifiers made before this expansion only, but
        // through the table that the expansion adds to.
        let this = &*self;
        let same = |idents: &Idents, pattern: Ident, used: Ident| {
            let a = this.resolve_with(idents, pattern, rules.scope);
            let b = this.resolve_with(idents, used, scope);
            match (a, b) {
                (None, None) => this.root(idents, pattern) == this.root(idents, used),
                (a, b) => a == b,
            }
        };
        let is = |idents: &Idents, id: Ident, name: &str| {
            &**idents.name(id) == name
                && matches!(
                    this.resolve_with(idents, id, rules.scope),
                    Some(Binding::Special(Special::Auxiliary))
                )
        };
        let expansion = rules.expand(form, &mut idents, &same, &is);
        self.idents = idents;
        expansion
    }

    fn root(&self, idents: &Idents, id: Ident) -> Ident {
        let mut id = id;
        while let Some((of, _)) = idents.alias_of(id) {
            id = of;
        }
        id
    }

    fn resolve_with(&self, idents: &Idents, id: Ident, scope: ScopeId) -> Option<Binding> {
        let (mut id, mut scope) = (id, scope);
        loop {
            let mut at = Some(scope);
            while let Some(ScopeId(n)) = at {
                if let Some(binding) = self.scopes[n as usize].names.get(&id) {
                    return Some(binding.clone());
                }
                at = self.scopes[n as usize].parent;
            }
            (id, scope) = idents.alias_of(id)?;
        }
    }

    /// A macro from the right-hand side of `define-syntax` and its relatives.
    pub(crate) fn transformer(&mut self, form: &Form, scope: ScopeId) -> Outcome<Binding> {
        if let Some(id) = form.as_id()
            && let Some(binding @ (Binding::Macro(_) | Binding::Special(_))) =
                self.resolve(id, scope)
        {
            return Ok(binding);
        }
        match self.keyword(form, scope) {
            Some(Binding::Special(Special::SyntaxRules)) => {
                let rules = Rules::new(form, scope, &|id, name| {
                    &**self.idents.name(id) == name
                        && matches!(
                            self.resolve(id, scope),
                            Some(Binding::Special(Special::Auxiliary))
                        )
                })?;
                Ok(Binding::Macro(Rc::new(rules)))
            }
            Some(Binding::Macro(rules)) => {
                let form = self.use_macros(&rules, form, scope)?;
                self.transformer(&form, scope)
            }
            _ => fault(form.at, "a macro must be given as syntax-rules"),
        }
    }

    /// An expression.
    pub(crate) fn expr(&mut self, form: &Form, scope: ScopeId) -> Outcome<Expr> {
        match &*form.kind {
            Kind::Id(id) => self.variable(*id, scope, form.at),
            Kind::Atom(_) | Kind::Vector(_) => Ok(self.quoted(form)),
            Kind::Label(..) => fault(form.at, "a datum label outside a quotation"),
            Kind::List(_, Some(tail)) => fault(tail.at, "a dot in a call"),
            Kind::List(items, None) => {
                let Some(head) = items.first() else {
                    return fault(form.at, "() is no expression; the empty list is written '()");
                };
                match head.as_id().and_then(|id| self.resolve(id, scope)) {
                    Some(Binding::Special(special)) => self.special(special, form, items, scope),
                    Some(Binding::Macro(rules)) => {
                        let expansion = self.use_macros(&rules, form, scope)?;
                        self.expanding += 1;
                        if self.expanding == EXPANSIONS {
                            return fault(form.at, "the expansion of this macro does not end");
                        }
                        let expr = self.expr(&expansion, scope);
                        self.expanding -= 1;
                        expr
                    }
                    Some(Binding::Prim(prim)) if !prim.is_value() => {
                        let arguments = self.all(&items[1..], scope)?;
                        self.prim(prim, arguments, form.at)
                    }
                    Some(Binding::Nary(nary)) => {
                        let arguments = self.all(&items[1..], scope)?;
                        self.nary(nary, arguments, form.at)
                    }
                    _ => {
                        let operator = self.expr(head, scope)?;
                        let arguments = self.all(&items[1..], scope)?;
                        Ok(Expr::Call(Box::new(operator), arguments, form.at))
                    }
                }
            }
        }
    }

    pub(crate) fn all(&mut self, forms: &[Form], scope: ScopeId) -> Outcome<Vec<Expr>> {
        forms.iter().map(|form| self.expr(form, scope)).collect()
    }

    pub(crate) fn prim(
        &mut self,
        prim: &'static Prim,
        arguments: Vec<Expr>,
        at: Place,
    ) -> Outcome<Expr> {
        if arguments.len() < prim.least || arguments.len() > prim.most {
            let takes = arity(prim.least, Some(prim.most).filter(|_| !prim.takes_any()));
            return fault(at, format!("{} takes {takes}, but gets {}", prim.name, arguments.len()));
        }
        Ok(Expr::Prim(prim, arguments, at))
    }

    pub(crate) fn quoted(&self, form: &Form) -> Expr {
        Expr::Const(Const::Datum(Rc::new(form.datum(&self.idents))))
    }

    fn variable(&mut self, id: Ident, scope: ScopeId, at: Place) -> Outcome<Expr> {
        Ok(match self.resolve(id, scope) {
            Some(Binding::Local(var)) => Expr::Local(var),
            Some(Binding::Global(global)) => Expr::Global(global, at),
            Some(Binding::Prim(prim)) => Expr::PrimValue(prim),
            Some(Binding::Nary(nary)) => {
                let id = self.idents.plain(&format!("%any{}", nary.name));
                return self.variable(id, BASE, at);
            }
            Some(Binding::Special(_) | Binding::Macro(_)) => {
                return fault(at, format!("{} is syntax, not a variable", self.name(id)));
            }
            None => Expr::Global(self.forward(id, scope, at), at),
        })
    }
}

/// Whether a name is how a complex number is written that is not real.
fn is_complex(name: &str) -> bool {
    let is_real = |text: &str| allod_scheme_datum::number::parse(text, 10).is_some();
    let is_part =
        |text: &str| matches!(text, "+" | "-") || (text.starts_with(['+', '-']) && is_real(text));
    let signs = || name.char_indices().filter(|(_, c)| matches!(c, '+' | '-'));
    name.split_once('@').is_some_and(|(size, angle)| is_real(size) && is_real(angle))
        || name.strip_suffix('i').is_some_and(|rest| {
            signs().any(|(at, _)| (at == 0 || is_real(&name[..at])) && is_part(&rest[at..]))
        })
}

/// "1 argument", "2 to 3 arguments", "at least 1 argument".
pub(crate) fn arity(least: usize, most: Option<usize>) -> String {
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    match most {
        Some(most) if most == least => format!("{least} argument{}", plural(least)),
        Some(most) => format!("{least} to {most} arguments"),
        None => format!("at least {least} argument{}", plural(least)),
    }
}
