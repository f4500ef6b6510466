//! Whether the folders of a crate are layers, as its `lib.rs` says: for the tests of such crates.
//!
//! `lib.rs` has one line of documentation that names the layers in their order, the lowest first, with an
//! arrow between them. Each folder of `src` is a layer; its `mod.rs` says in a sentence that begins with
//! `May use:` which layers below it needs. Source files are read as text, so what macros hide is not seen.
//!
//! Each check returns what is wrong, a line for each; nothing if all is well.

mod file;

use file::{File, tokens};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The source files of a crate.
pub struct Layers {
    files: Vec<File>,
    order: Vec<String>,
}

/// What stands in backquotes in a text.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(String::from).collect()
}

impl Layers {
    /// Reads the crate whose `Cargo.toml` lies in a folder.
    ///
    /// # Panics
    /// When a file cannot be read, or `lib.rs` does not name the layers.
    pub fn of(manifest: &str) -> Layers {
        let src = Path::new(manifest).join("src");
        let lib = fs::read_to_string(src.join("lib.rs")).unwrap();
        let line = lib.lines().find(|line| line.starts_with("//!") && line.contains('→'));
        let order = quoted(line.expect("the order of the layers"));
        let mut files = Vec::new();
        for folder in fs::read_dir(src).unwrap().map(Result::unwrap) {
            if !folder.path().is_dir() {
                continue;
            }
            for file in fs::read_dir(folder.path()).unwrap().map(Result::unwrap) {
                let text = fs::read_to_string(file.path()).unwrap();
                files.push(File {
                    folder: folder.file_name().into_string().unwrap(),
                    name: file.path().file_stem().unwrap().to_str().unwrap().into(),
                    tokens: tokens(&text),
                    text,
                });
            }
        }
        files.sort_by_key(File::place);
        Layers { files, order }
    }

    /// Folders that are no layer, and layers without a folder.
    pub fn strangers(&self) -> Vec<String> {
        let folders: BTreeSet<&String> = self.files.iter().map(|file| &file.folder).collect();
        let layers: BTreeSet<&String> = self.order.iter().collect();
        folders.symmetric_difference(&layers).map(|name| name.to_string()).collect()
    }

    /// Uses of a layer above the file's own, and of items of `lib.rs`, which stands above all, but for
    /// those that are allowed.
    pub fn upward(&self, allowed: &[&str]) -> Vec<String> {
        let height = |folder: &str| self.order.iter().position(|layer| layer == folder);
        let mut wrong = Vec::new();
        for file in &self.files {
            for path in file.paths() {
                match height(&path[0]) {
                    Some(used) if Some(used) <= height(&file.folder) => {}
                    Some(_) => wrong.push(format!("{} uses {}", file.place(), path.join("::"))),
                    None if allowed.contains(&path[0].as_str()) => {}
                    None => {
                        wrong.push(format!("{} uses {} of lib.rs", file.place(), path.join("::")));
                    }
                }
            }
        }
        wrong
    }

    /// Uses of a layer that the `mod.rs` of a folder does not list.
    pub fn undeclared(&self) -> Vec<String> {
        let mut wrong = Vec::new();
        for (height, layer) in self.order.iter().enumerate() {
            let below = &self.order[..height];
            let Some(said) = self.module(layer).text.split("May use: ").nth(1) else {
                wrong.push(format!("{layer} does not say what it may use"));
                continue;
            };
            let may = match said.split('.').next().unwrap() {
                "all layers below" => below.to_vec(),
                nothing if nothing.starts_with("nothing") => Vec::new(),
                names => quoted(names),
            };
            for name in may.iter().filter(|name| !below.contains(name)) {
                wrong.push(format!("{layer} may not use {name}"));
            }
            for file in self.files.iter().filter(|file| file.folder == *layer) {
                for path in file.paths() {
                    if below.contains(&path[0]) && !may.contains(&path[0]) {
                        wrong.push(format!("{} uses {}", file.place(), path.join("::")));
                    }
                }
            }
        }
        wrong
    }

    fn module(&self, folder: &str) -> &File {
        self.files.iter().find(|f| f.folder == folder && f.name == "mod").expect("mod.rs")
    }

    /// Files of one folder that use one another in a circle.
    pub fn circles(&self) -> Vec<String> {
        let uses = self.neighbours();
        let reachable = |from: &String| {
            let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
            while let Some(file) = next.pop() {
                next.extend(uses[file].iter().filter(|used| seen.insert((*used).clone())));
            }
            seen
        };
        let all: BTreeMap<_, _> = uses.keys().map(|file| (file, reachable(file))).collect();
        let mut circles = BTreeSet::new();
        for (file, seen) in &all {
            if seen.contains(*file) {
                let circle: Vec<&str> = seen
                    .iter()
                    .filter(|other| all[other].contains(*file))
                    .map(String::as_str)
                    .collect();
                circles.insert(circle.join(" "));
            }
        }
        circles.into_iter().collect()
    }

    /// Which files of its folder each file uses.
    fn neighbours(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut uses = BTreeMap::new();
        for file in self.files.iter().filter(|file| file.name != "mod") {
            let of_folder =
                |name: &str| self.files.iter().any(|f| f.folder == file.folder && f.name == name);
            let module = self.module(&file.folder);
            let mut used = BTreeSet::new();
            for path in file.paths().into_iter().filter(|path| path[0] == file.folder) {
                let Some(name) = path.get(1) else { continue };
                if of_folder(name) {
                    used.insert(format!("{}/{name}.rs", file.folder));
                } else if let Some(from) = re_exported_from(module, name) {
                    used.insert(format!("{}/{from}.rs", file.folder));
                }
            }
            used.remove(&file.place());
            uses.insert(file.place(), used);
        }
        uses
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

/// The file from which a folder's `mod.rs` re-exports a name.
fn re_exported_from(module: &File, name: &str) -> Option<String> {
    let uses = (0..module.tokens.len()).filter(|&at| module.tokens[at] == "use");
    for at in uses {
        let mut paths = Vec::new();
        module.expand(at + 1, &mut Vec::new(), &mut paths);
        if let Some(path) = paths.into_iter().find(|path| path.last().unwrap() == name) {
            return Some(path[0].clone());
        }
    }
    None
}
