//! Files that use one another in a circle.

use crate::Layers;
use crate::file::File;

use std::collections::{BTreeMap, BTreeSet};

impl Layers {
    /// Files that use one another in a circle, in whatever folders they lie. The `mod.rs` of a folder may
    /// know its files, and they know it: it is not counted.
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

    /// Which other files each file uses.
    fn neighbours(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut uses = BTreeMap::new();
        for file in self.files.iter().filter(|file| !file.is_mod) {
            let used = file.paths().into_iter().filter_map(|path| self.file_of(&path));
            let mut used: BTreeSet<String> = used.map(File::place).collect();
            used.remove(&file.place());
            uses.insert(file.place(), used);
        }
        uses
    }

    /// The file in which a path ends; nothing where that is the `mod.rs` of a folder or the crate's own.
    fn file_of(&self, path: &[String]) -> Option<&File> {
        let within = |file: &&File| path.starts_with(&file.module);
        let file = self.files.iter().filter(within).max_by_key(|file| file.module.len())?;
        if !file.is_mod {
            return Some(file);
        }
        let name = path.get(file.module.len())?;
        let from = re_exported_from(file, name)?;
        self.files.iter().find(|other| {
            !other.is_mod && other.module.split_last() == Some((&from, &file.module[..]))
        })
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
