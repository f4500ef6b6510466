//! The folders of `src` are layers, and the files of a folder know where they stand, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Files of one folder that need one another: a heap is made of what the others keep for it, and they
/// work on the heap. A new circle wants a better cut, not a new line here.
const CIRCLES: &[&str] =
    &["heap/caches.rs heap/counters.rs heap/drawn.rs heap/heap.rs heap/locked.rs"];

/// A source file without its comments and literals.
struct File {
    folder: String,
    /// `mod` for the folder's own file.
    name: String,
    /// With comments.
    text: String,
    /// Words and signs.
    tokens: Vec<String>,
}

impl File {
    fn place(&self) -> String {
        format!("{}/{}.rs", self.folder, self.name)
    }

    /// Paths from the crate's root that the file names, in `use` or in the middle of code.
    fn paths(&self) -> Vec<Vec<String>> {
        let mut paths = Vec::new();
        for at in 0..self.tokens.len() {
            let before = at.checked_sub(1).map_or("", |i| &self.tokens[i]);
            if before == "::" || !self.follows(at, "::") {
                continue;
            }
            let mut from = match self.tokens[at].as_str() {
                "crate" => Vec::new(),
                // All of `super` is what a module of tests uses of its own file.
                "super" if self.name != "mod" && self.tokens[at + 2] != "*" => {
                    vec![self.folder.clone()]
                }
                "self" if self.name == "mod" => vec![self.folder.clone()],
                _ => continue,
            };
            self.expand(at + 2, &mut from, &mut paths);
        }
        paths
    }

    fn follows(&self, at: usize, token: &str) -> bool {
        self.tokens.get(at + 1).is_some_and(|next| next == token)
    }

    /// Follows a path, or a tree of them in braces, that begins at a token. Says where it ends.
    fn expand(&self, mut at: usize, path: &mut Vec<String>, paths: &mut Vec<Vec<String>>) -> usize {
        let depth = path.len();
        loop {
            if self.tokens[at] == "{" {
                at += 1;
                while self.tokens[at] != "}" {
                    at = self.expand(at, path, paths);
                    while self.tokens[at] == "as" {
                        at += 2;
                    }
                    if self.tokens[at] == "," {
                        at += 1;
                    }
                }
                at += 1;
                break;
            }
            path.push(self.tokens[at].clone());
            at += 1;
            if self.tokens.get(at).is_none_or(|token| token != "::") {
                paths.push(path.clone());
                break;
            }
            at += 1;
        }
        path.truncate(depth);
        at
    }
}

/// The words and signs of a source text; comments are left out, literals are empty.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let (mut tokens, mut i) = (Vec::new(), 0);
    while i < chars.len() {
        let start = i;
        match at(i) {
            c if c.is_whitespace() => i += 1,
            '/' if at(i + 1) == '/' => {
                while i < chars.len() && at(i) != '\n' {
                    i += 1;
                }
            }
            '/' if at(i + 1) == '*' => {
                while i < chars.len() && !(at(i) == '*' && at(i + 1) == '/') {
                    i += 1;
                }
                i += 2;
            }
            '"' => {
                i += 1;
                while at(i) != '"' {
                    i += if at(i) == '\\' { 2 } else { 1 };
                }
                i += 1;
                tokens.push("\"\"".into());
            }
            // A lifetime, or a character.
            '\'' if at(i + 2) != '\'' && at(i + 1) != '\\' => i += 1,
            '\'' => {
                i += if at(i + 1) == '\\' { 3 } else { 2 };
                while at(i) != '\'' {
                    i += 1;
                }
                i += 1;
                tokens.push("''".into());
            }
            c if is_word(c) => {
                while is_word(at(i)) {
                    i += 1;
                }
                tokens.push(chars[start..i].iter().collect());
            }
            ':' if at(i + 1) == ':' => {
                i += 2;
                tokens.push("::".into());
            }
            c => {
                i += 1;
                tokens.push(c.into());
            }
        }
    }
    tokens
}

fn files() -> Vec<File> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
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
    files
}

/// What stands in backquotes in a text.
fn quoted(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(String::from).collect()
}

/// The layers, the lowest first, as `lib.rs` states them.
fn order() -> Vec<String> {
    let lib = include_str!("../src/lib.rs");
    let line = lib.lines().find(|line| line.starts_with("//!") && line.contains('→'));
    quoted(line.expect("the order of the layers"))
}

#[test]
fn every_folder_is_a_layer() {
    let folders: BTreeSet<String> = files().into_iter().map(|file| file.folder).collect();
    assert_eq!(folders, order().into_iter().collect());
}

#[test]
fn no_file_uses_a_layer_above_its_own() {
    let order = order();
    let height = |folder: &str| order.iter().position(|layer| layer == folder);
    let mut wrong = Vec::new();
    for file in files() {
        for path in file.paths() {
            match height(&path[0]) {
                Some(used) if Some(used) <= height(&file.folder) => {}
                Some(_) => wrong.push(format!("{} uses {}", file.place(), path.join("::"))),
                // An item of `lib.rs`, which stands above all.
                None if path[0] == "VERSION" => {}
                None => wrong.push(format!("{} uses {} of lib.rs", file.place(), path.join("::"))),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_folder_uses_what_it_says_it_may_use() {
    let order = order();
    let files = files();
    let mut wrong = Vec::new();
    for (height, layer) in order.iter().enumerate() {
        let of_layer = || files.iter().filter(|file| file.folder == *layer);
        let module = of_layer().find(|file| file.name == "mod").expect("mod.rs");
        let Some(said) = module.text.split("May use: ").nth(1) else {
            wrong.push(format!("{layer} does not say what it may use"));
            continue;
        };
        let said = said.split('.').next().unwrap();
        let may = match said {
            "all layers below" => order[..height].to_vec(),
            "nothing of the heap" => Vec::new(),
            names => quoted(names),
        };
        for name in may.iter().filter(|name| !order[..height].contains(name)) {
            wrong.push(format!("{layer} may not use {name}"));
        }
        for file in of_layer() {
            for path in file.paths() {
                if order[..height].contains(&path[0]) && !may.contains(&path[0]) {
                    wrong.push(format!("{} uses {}", file.place(), path.join("::")));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Which files of its folder each file uses.
fn neighbours(files: &[File]) -> BTreeMap<String, BTreeSet<String>> {
    let mut uses = BTreeMap::new();
    for file in files.iter().filter(|file| file.name != "mod") {
        let of_folder =
            |name: &str| files.iter().any(|f| f.folder == file.folder && f.name == name);
        let module = files.iter().find(|f| f.folder == file.folder && f.name == "mod").unwrap();
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

#[test]
fn no_files_of_a_folder_use_one_another_in_a_circle() {
    let uses = neighbours(&files());
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
    assert_eq!(circles, CIRCLES.iter().map(|circle| circle.to_string()).collect());
}

/// Where a gate is needed, a module or an item is chosen; a body reads straight through.
#[test]
fn no_cfg_stands_inside_a_function() {
    let mut wrong = Vec::new();
    for file in files() {
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
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn paths_are_found_wherever_they_stand() {
    let file = File {
        folder: "heap".into(),
        name: "locked".into(),
        text: String::new(),
        tokens: tokens(
            "use crate::base::{class::{CLASSES, Class as C}, layout}; // crate::a::b
             fn f<'a>(x: &'a u8) { crate::map::bin::go('\"', \"crate::c\"); super::post::send(); }",
        ),
    };
    let paths: Vec<String> = file.paths().iter().map(|path| path.join("::")).collect();
    let expected = [
        "base::class::CLASSES",
        "base::class::Class",
        "base::layout",
        "map::bin::go",
        "heap::post::send",
    ];
    assert_eq!(paths, expected);
}
