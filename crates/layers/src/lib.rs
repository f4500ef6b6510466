//! Whether the modules of a crate are layers, as its `lib.rs` says: for the tests of such crates.
//!
//! `lib.rs` (or `main.rs`) has a sentence that names the layers in their order, the lowest first, with
//! an arrow between them; a comma stands between layers that do not use each other. Each folder of `src`
//! is a layer, and so is each file beside `lib.rs`. The `mod.rs` of a folder says in a sentence that begins
//! with `May use:` which layers below it needs. Source files are read as text, so what macros hide is not
//! seen.
//!
//! Each check returns what is wrong, a line for each; nothing if all is well. [`tests!`] makes them tests.

mod circles;
mod file;
mod macros;

use file::{File, tokens};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The source files of a crate.
pub struct Layers {
    files: Vec<File>,
    /// The layers from the lowest to the highest; those of one step do not use each other.
    order: Vec<Vec<String>>,
}

/// What stands in backquotes in a text.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(String::from).collect()
}

/// The order that the documentation of a crate names: from the line with the first arrow to the sentence's
/// end.
fn order(root: &str) -> Vec<Vec<String>> {
    let lines = root.lines().skip_while(|line| !(line.starts_with("//!") && line.contains('→')));
    let text: String = lines.map_while(|line| line.strip_prefix("//!")).collect();
    let sentence = text.split('.').find(|part| part.contains('→')).unwrap_or_default();
    sentence.split('→').map(quoted).collect()
}

/// Panics with what a check found wrong.
pub fn assert_none(wrong: &[String]) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

impl Layers {
    /// Reads the crate whose `Cargo.toml` lies in a folder.
    ///
    /// # Panics
    /// When a file cannot be read.
    pub fn of(manifest: &str) -> Layers {
        let src = Path::new(manifest).join("src");
        let root = fs::read_to_string(src.join("lib.rs"))
            .or_else(|_| fs::read_to_string(src.join("main.rs")))
            .expect("lib.rs or main.rs");
        let mut files = Vec::new();
        read(&src, &[], &mut files);
        files.sort_by_key(File::place);
        Layers { files, order: order(&root) }
    }

    /// Folders and files that are no layer, and layers without either.
    pub fn strangers(&self) -> Vec<String> {
        let there: BTreeSet<&str> = self.files.iter().map(File::layer).collect();
        let layers: BTreeSet<&str> = self.order.iter().flatten().map(String::as_str).collect();
        there.symmetric_difference(&layers).map(ToString::to_string).collect()
    }

    /// Uses of a layer above the file's own or beside it, and of items of `lib.rs`, which stands above all,
    /// but for those that are allowed.
    pub fn upward(&self, allowed: &[&str]) -> Vec<String> {
        let mut wrong = Vec::new();
        for file in &self.files {
            for path in file.paths() {
                let Some(used) = path.first() else { continue };
                match self.height(used) {
                    _ if used == file.layer() => {}
                    Some(height) if Some(height) < self.height(file.layer()) => {}
                    Some(_) => wrong.push(format!("{} uses {}", file.place(), path.join("::"))),
                    None if allowed.contains(&used.as_str()) => {}
                    None => {
                        wrong.push(format!("{} uses {} of lib.rs", file.place(), path.join("::")));
                    }
                }
            }
        }
        wrong
    }

    /// On which step of the order a layer stands.
    fn height(&self, layer: &str) -> Option<usize> {
        self.order.iter().position(|step| step.iter().any(|name| name == layer))
    }

    /// Uses of a layer that the `mod.rs` of a folder does not list.
    pub fn undeclared(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for module in self.files.iter().filter(|file| file.is_mod && file.module.len() == 1) {
            let layer = module.layer();
            let below: Vec<String> =
                self.order[..self.height(layer).unwrap_or(0)].iter().flatten().cloned().collect();
            let Some(said) = module.text.split("May use: ").nth(1) else {
                wrong.push(format!("{layer} does not say what it may use"));
                continue;
            };
            let may = match said.split('.').next().unwrap() {
                "all layers below" => below.clone(),
                nothing if nothing.starts_with("nothing") => Vec::new(),
                names => quoted(names),
            };
            for name in may.iter().filter(|name| !below.contains(name)) {
                wrong.push(format!("{layer} may not use {name}"));
            }
            for file in self.files.iter().filter(|file| file.layer() == layer) {
                for path in file.paths() {
                    if path.first().is_some_and(|used| below.contains(used) && !may.contains(used))
                    {
                        wrong.push(format!("{} uses {}", file.place(), path.join("::")));
                    }
                }
            }
        }
        wrong
    }

    /// Functions with a `cfg` in their body. Where a gate is needed, a module or an item is chosen; a
    /// body reads straight through.
    pub fn gates_in_bodies(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for file in &self.files {
            let t = &file.tokens;
            let mut at = 0;
            while at < t.len() {
                at += 1;
                if t[at - 1] != "fn"
                    || !t.get(at).is_some_and(|name| name.starts_with(char::is_alphabetic))
                {
                    continue;
                }
                let name = &t[at];
                // A function type in a signature has no body; neither has a method of a trait.
                let Some(open) = (at..t.len()).find(|&i| t[i] == "{" || t[i] == ";") else { break };
                let (mut depth, mut i) = (0, open);
                while i < t.len() {
                    match t[i].as_str() {
                        "{" => depth += 1,
                        "}" => depth -= 1,
                        "#" if depth > 0 => {
                            let attribute = i + if file.follows(i, "!") { 2 } else { 1 };
                            if t[attribute] == "[" && t[attribute + 1].starts_with("cfg") {
                                wrong.push(format!("{} in {name}", file.place()));
                            }
                        }
                        _ => {}
                    }
                    if depth == 0 {
                        break;
                    }
                    i += 1;
                }
            }
        }
        wrong
    }
}

/// Reads the source files of a module's folder, but for the crate's own file.
fn read(folder: &Path, module: &[String], files: &mut Vec<File>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut inside = module.to_vec();
        if path.is_dir() {
            inside.push(name);
            read(&path, &inside, files);
            continue;
        }
        let is_root = module.is_empty() && matches!(name.as_str(), "lib" | "main");
        if path.extension().is_none_or(|extension| extension != "rs") || is_root {
            continue;
        }
        let is_mod = name == "mod";
        if !is_mod {
            inside.push(name);
        }
        let text = fs::read_to_string(&path).unwrap();
        files.push(File { module: inside, is_mod, tokens: tokens(&text), text });
    }
}

#[cfg(test)]
mod tests {
    use super::order;

    #[test]
    fn an_order_goes_on_to_the_sentences_end() {
        let root =
            "//! A crate.\n//!\n//! Lowest first: `a` → `b`, `c`\n//! → `d`. And `e` → `f`.\n";
        assert_eq!(order(root), [vec!["a"], vec!["b", "c"], vec!["d"]]);
    }
}
