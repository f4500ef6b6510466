//! Libraries: `define-library`, `import`, `cond-expand`.

use super::special::Special;
use super::{BASE, Binding, Expander, Outcome, fault};
use crate::standard;
use crate::syntax::{Form, Ident, Kind, ScopeId};
use allod_scheme_datum::{Node, Place};

/// What a library gives to those who import it.
#[derive(Clone, Debug)]
pub(super) struct Library {
    exports: Vec<(Ident, Binding)>,
}

impl Expander<'_> {
    /// The forms of a program: libraries, imports, then definitions and expressions. A program without
    /// imports gets all of R7RS.
    pub(super) fn run_program(&mut self, forms: &[Form]) -> Outcome<()> {
        let scope = self.top_scope();
        // These two are known before anything is imported.
        for (name, special) in
            [("import", Special::Import), ("define-library", Special::DefineLibrary)]
        {
            let id = self.idents.plain(name);
            self.bind(scope, id, Binding::Special(special));
            self.imported.insert((scope.0, id));
        }
        let mut rest = forms;
        let mut imports = 0;
        while let Some((form, more)) = rest.split_first() {
            match self.keyword(form, scope) {
                Some(Binding::Special(Special::DefineLibrary)) => self.define_library(form)?,
                Some(Binding::Special(Special::Import)) => {
                    self.import(form, scope)?;
                    imports += 1;
                }
                _ => break,
            }
            rest = more;
        }
        if imports == 0 {
            for (name, _) in standard::LIBRARIES {
                let library = self.standard(name).expect("it is in the table");
                self.take_in(library.exports, scope, Place::default())?;
            }
        }
        let done = self.top_level(rest, scope)?;
        self.program.forms.extend(done);
        Ok(())
    }

    /// Binds what is imported. A name has one meaning, from wherever it is imported.
    fn take_in(
        &mut self,
        exports: Vec<(Ident, Binding)>,
        scope: ScopeId,
        at: Place,
    ) -> Outcome<()> {
        for (id, binding) in exports {
            let known = self.scopes[scope.0 as usize].names.get(&id);
            if known.is_some_and(|known| *known != binding) && !self.imported.insert((scope.0, id))
            {
                let name = self.name(id);
                return fault(at, format!("{name} is imported with two different meanings"));
            }
            self.bind(scope, id, binding);
            self.imported.insert((scope.0, id));
        }
        Ok(())
    }

    pub(super) fn import(&mut self, form: &Form, scope: ScopeId) -> Outcome<()> {
        for set in &form.items().unwrap_or_default()[1..] {
            let exports = self.import_set(set)?;
            self.take_in(exports, scope, set.at)?;
        }
        Ok(())
    }

    fn import_set(&mut self, set: &Form) -> Outcome<Vec<(Ident, Binding)>> {
        let Some(items) = set.items() else { return fault(set.at, "malformed import set") };
        let word = items.first().and_then(Form::as_id).map(|id| self.name(id));
        let nested = items.get(1).is_some_and(|inner| inner.items().is_some());
        let (Some(word), true) = (word, nested) else {
            return self.library(set).map(|l| l.exports);
        };
        let (inner, words) = (&items[1], &items[2..]);
        let find = |exports: &[(Ident, Binding)], form: &Form, this: &Self| -> Outcome<usize> {
            let id = form.as_id();
            match exports.iter().position(|(name, _)| Some(*name) == id) {
                Some(at) => Ok(at),
                None => {
                    let name = id.map_or("this".into(), |id| this.name(id));
                    fault(form.at, format!("{name} is not in the imported library"))
                }
            }
        };
        match &*word {
            "only" => {
                let exports = self.import_set(inner)?;
                words.iter().map(|w| find(&exports, w, self).map(|i| exports[i].clone())).collect()
            }
            "except" => {
                let mut exports = self.import_set(inner)?;
                for w in words {
                    let at = find(&exports, w, self)?;
                    exports.remove(at);
                }
                Ok(exports)
            }
            "prefix" => {
                let Some(prefix) = words.first().and_then(Form::as_id).map(|id| self.name(id))
                else {
                    return fault(set.at, "malformed import set: (prefix set name)");
                };
                let exports = self.import_set(inner)?;
                let renamed = exports.into_iter().map(|(id, binding)| {
                    let name = format!("{prefix}{}", self.idents.name(id));
                    (self.idents.plain(&name), binding)
                });
                Ok(renamed.collect())
            }
            "rename" => {
                let before = self.import_set(inner)?;
                let mut exports = before.clone();
                for w in words {
                    let Some([from, to]) = w.items() else {
                        return fault(w.at, "malformed import set: (rename set (from to) …)");
                    };
                    let at = find(&before, from, self)?;
                    let Some(to) = to.as_id() else {
                        return fault(to.at, "a name must be an identifier");
                    };
                    exports[at].0 = to;
                }
                Ok(exports)
            }
            _ => self.library(set).map(|l| l.exports),
        }
    }

    /// A library's name as text: "(scheme base)".
    fn library_name(&self, form: &Form) -> String {
        crate::text::datum(&form.datum(&self.idents))
    }

    fn standard(&mut self, name: &str) -> Option<Library> {
        if let Some(known) = self.libraries.get(name) {
            return Some(known.clone());
        }
        let (_, names) =
            standard::LIBRARIES.iter().chain(standard::OWN).find(|(known, _)| *known == name)?;
        let mut exports = Vec::new();
        for name in names.split_whitespace() {
            let id = self.idents.plain(name);
            let binding = self.resolve(id, BASE);
            debug_assert!(binding.is_some(), "{name} is exported but not in the prelude");
            exports.extend(binding.map(|binding| (id, binding)));
        }
        let library = Library { exports };
        self.libraries.insert(name.into(), library.clone());
        Some(library)
    }

    fn library(&mut self, name: &Form) -> Outcome<Library> {
        let text = self.library_name(name);
        if let Some(library) = self.standard(&text) {
            return Ok(library);
        }
        if let Some(why) = standard::refused(&text) {
            return fault(name.at, format!("the library {text} is not supported: {why}"));
        }
        if self.under_way.contains(&text) {
            return fault(name.at, format!("the library {text} imports itself"));
        }
        let mut parts = Vec::new();
        for part in name.items().unwrap_or_default() {
            parts.push(match &*part.kind {
                Kind::Id(id) => self.name(*id).to_string(),
                Kind::Atom(Node::Number(n)) => allod_scheme_datum::number::write(n, 10),
                _ => return fault(part.at, "malformed name of a library"),
            });
        }
        let path = format!("{}.sld", parts.join("/"));
        let Some(data) = self.sources.library(&path, name.at)? else {
            return fault(
                name.at,
                format!("there is no library {text}: no file {path} beside the program"),
            );
        };
        for datum in &data {
            let form = Form::of(datum, &mut self.idents);
            self.define_library(&form)?;
        }
        match self.libraries.get(&text) {
            Some(library) => Ok(library.clone()),
            None => fault(name.at, format!("the file {path} does not define the library {text}")),
        }
    }

    fn define_library(&mut self, form: &Form) -> Outcome<()> {
        let [_, name, declarations @ ..] = form.items().unwrap_or_default() else {
            return fault(form.at, "malformed define-library: (define-library name declaration …)");
        };
        let text = self.library_name(name);
        if name.items().is_none_or(<[Form]>::is_empty) {
            return fault(name.at, "malformed name of a library");
        }
        if self.libraries.contains_key(&text) {
            return fault(name.at, format!("the library {text} is defined twice"));
        }
        self.under_way.push(text.clone());
        let scope = self.top_scope();
        let (mut exports, mut body) = (Vec::new(), Vec::new());
        self.declarations(declarations, scope, &mut exports, &mut body)?;
        let done = self.top_level(&body, scope)?;
        self.program.forms.extend(done);
        let mut given: Vec<(Ident, Binding)> = Vec::new();
        for (inside, outside, at) in exports {
            match self.resolve(inside, scope) {
                Some(binding) if given.iter().any(|(id, b)| *id == outside && *b != binding) => {
                    let name = self.name(outside);
                    return fault(at, format!("{name} is exported with two different meanings"));
                }
                Some(binding) => given.push((outside, binding)),
                None => {
                    return fault(at, format!("{} is exported but not defined", self.name(inside)));
                }
            }
        }
        self.under_way.pop();
        self.libraries.insert(text, Library { exports: given });
        Ok(())
    }

    fn declarations(
        &mut self,
        declarations: &[Form],
        scope: ScopeId,
        exports: &mut Vec<(Ident, Ident, Place)>,
        body: &mut Vec<Form>,
    ) -> Outcome<()> {
        for declaration in declarations {
            let items = declaration.items().unwrap_or_default();
            let Some(word) = items.first().and_then(Form::as_id).map(|id| self.name(id)) else {
                return fault(declaration.at, "malformed declaration of a library");
            };
            match &*word {
                "export" => {
                    for spec in &items[1..] {
                        match (spec.as_id(), spec.items()) {
                            (Some(id), _) => exports.push((id, id, spec.at)),
                            (_, Some([_, from, to]))
                                if from.as_id().is_some() && to.as_id().is_some() =>
                            {
                                let (from, to) = (from.as_id(), to.as_id());
                                exports.push((from.expect("tested"), to.expect("tested"), spec.at));
                            }
                            _ => {
                                return fault(
                                    spec.at,
                                    "an export must be a name or (rename from to)",
                                );
                            }
                        }
                    }
                }
                "import" => self.import(declaration, scope)?,
                "begin" => body.extend(items[1..].iter().cloned()),
                "include" | "include-ci" => {
                    let fold = &*word == "include-ci";
                    body.extend(self.included(&items[1..], fold, declaration.at)?)
                }
                "include-library-declarations" => {
                    let inner = self.included(&items[1..], false, declaration.at)?;
                    self.declarations(&inner, scope, exports, body)?;
                }
                "cond-expand" => {
                    let inner = self.chosen(&items[1..], declaration.at)?;
                    self.declarations(&inner, scope, exports, body)?;
                }
                other => {
                    return fault(
                        declaration.at,
                        format!("unknown declaration {other} in a library"),
                    );
                }
            }
        }
        Ok(())
    }

    /// The forms of the first clause of `cond-expand` whose requirement is met.
    pub(super) fn chosen(&mut self, clauses: &[Form], at: Place) -> Outcome<Vec<Form>> {
        for clause in clauses {
            let Some([requirement, forms @ ..]) = clause.items() else {
                return fault(clause.at, "malformed cond-expand: a clause is (requirement form …)");
            };
            if self.is_met(requirement)? {
                return Ok(forms.to_vec());
            }
        }
        fault(at, "no clause of this cond-expand applies")
    }

    fn is_met(&mut self, requirement: &Form) -> Outcome<bool> {
        if let Some(id) = requirement.as_id() {
            let name = self.name(id);
            return Ok(&*name == "else" || standard::FEATURES.contains(&&*name));
        }
        let items = requirement.items().unwrap_or_default();
        let word = items.first().and_then(Form::as_id).map(|id| self.name(id));
        match (word.as_deref(), items.get(1..).unwrap_or_default()) {
            (Some("and"), all) => {
                for one in all {
                    if !self.is_met(one)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Some("or"), all) => {
                for one in all {
                    if self.is_met(one)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            (Some("not"), [one]) => Ok(!self.is_met(one)?),
            (Some("library"), [name]) => {
                let text = self.library_name(name);
                if self.standard(&text).is_some() || self.libraries.contains_key(&text) {
                    return Ok(true);
                }
                Ok(standard::refused(&text).is_none() && self.library(name).is_ok())
            }
            _ => fault(requirement.at, "malformed requirement in cond-expand"),
        }
    }
}
