//! A source file as words and signs, and the paths that it names.

/// A source file of a layer.
pub(crate) struct File {
    /// The layer.
    pub folder: String,
    /// `mod` for the folder's own file.
    pub name: String,
    /// With comments.
    pub text: String,
    /// Words and signs, without comments; literals are empty.
    pub tokens: Vec<String>,
}

impl File {
    /// Folder and name.
    pub fn place(&self) -> String {
        format!("{}/{}.rs", self.folder, self.name)
    }

    /// Paths from the crate's root that the file names, in `use` or in the middle of code.
    pub fn paths(&self) -> Vec<Vec<String>> {
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
}
