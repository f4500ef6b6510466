//! A source file as words and signs, and the paths that it names.

/// A source file.
pub(crate) struct File {
    /// The path of its module from the crate's root.
    pub module: Vec<String>,
    /// Whether it is a folder's `mod.rs`.
    pub is_mod: bool,
    /// With comments.
    pub text: String,
    /// Words and signs, without comments; literals are empty.
    pub tokens: Vec<String>,
}

impl File {
    /// The layer: the folder beside `lib.rs`, or the file there.
    pub fn layer(&self) -> &str {
        &self.module[0]
    }

    /// Where it lies in `src`.
    pub fn place(&self) -> String {
        let path = self.module.join("/");
        if self.is_mod { format!("{path}/mod.rs") } else { format!("{path}.rs") }
    }

    /// Paths from the crate's root that the file names, in `use` or in the middle of code.
    pub fn paths(&self) -> Vec<Vec<String>> {
        let mut paths = Vec::new();
        let mut here = self.module.clone();
        // How many braces are open, and where modules inside this file began.
        let (mut depth, mut inside) = (0, Vec::new());
        let mut at = 0;
        while at < self.tokens.len() {
            let before = at.checked_sub(1).map_or("", |i| &self.tokens[i]);
            match self.tokens[at].as_str() {
                "{" if at > 1 && self.tokens[at - 2] == "mod" => {
                    here.push(before.into());
                    inside.push(depth);
                    depth += 1;
                }
                "{" => depth += 1,
                "}" => {
                    depth -= 1;
                    if inside.last() == Some(&depth) {
                        inside.pop();
                        here.pop();
                    }
                }
                "crate" | "super" | "self" if before != "::" && self.follows(at, "::") => {
                    let mut from =
                        if self.tokens[at] == "crate" { Vec::new() } else { here.clone() };
                    while self.tokens[at] == "super" && self.follows(at, "::") {
                        from.pop();
                        at += 2;
                    }
                    if matches!(self.tokens[at].as_str(), "crate" | "self") {
                        at += 2;
                    }
                    self.expand(at, &mut from, &mut paths);
                    continue;
                }
                _ => {}
            }
            at += 1;
        }
        paths
    }

    /// Whether the token after another is the one given.
    pub fn follows(&self, at: usize, token: &str) -> bool {
        self.tokens.get(at + 1).is_some_and(|next| next == token)
    }

    /// Follows a path, or a tree of them in braces, that begins at a token. Says where it ends.
    pub fn expand(
        &self,
        mut at: usize,
        path: &mut Vec<String>,
        paths: &mut Vec<Vec<String>>,
    ) -> usize {
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
pub(crate) fn tokens(text: &str) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_wherever_they_stand() {
        let file = File {
            module: vec!["heap".into(), "locked".into()],
            is_mod: false,
            text: String::new(),
            tokens: tokens(
                "use crate::base::{class::{CLASSES, Class as C}, layout}; // crate::a::b
                 fn f<'a>(x: &'a u8) { crate::map::bin::go('\"', \"crate::c\"); super::post::send(); }
                 mod tests { use super::*; use super::super::mail; }",
            ),
        };
        let paths: Vec<String> = file.paths().iter().map(|path| path.join("::")).collect();
        let expected = [
            "base::class::CLASSES",
            "base::class::Class",
            "base::layout",
            "map::bin::go",
            "heap::post::send",
            "heap::locked::*",
            "heap::mail",
        ];
        assert_eq!(paths, expected);
    }
}
