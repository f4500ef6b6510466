//! A level: what is changed at a point where a factor is off, or on.
//!
//! Levels are written as words, quoted as in a shell:
//!
//! | word | what it changes |
//! | --- | --- |
//! | `NAME=VALUE` | a variable, such as one of Allod's settings |
//! | `allocator:NAME` | the preloaded allocator: `allod`, `system`, `mimalloc`, a `--peer` |
//! | `preload:FILE` | the preloaded library |
//! | `program:FILE` | the program, instead of the named one |
//! | `argument:TEXT` | one more argument of the program |
//! | `features:NAME,NAME` | liballod.so is built with these cargo features, or without any |
//! | `commit:NAME` | it is built from this commit; for rows of frames and regions, the command is |

use std::path::PathBuf;

/// What is changed at a point.
///
/// ```
/// use allod_lab::experiment::Level;
/// let level = Level::parse("ALLOD_HUGEPAGES=0 features:allod-heap/stats commit:HEAD~1")?;
/// assert_eq!(level.commit.as_deref(), Some("HEAD~1"));
/// assert!(Level::parse("--fast").unwrap_err().contains("argument:--fast"));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Level {
    /// Its words.
    pub text: String,
    /// Variables.
    pub variables: Vec<(String, String)>,
    /// The preloaded library.
    pub library: Option<Library>,
    /// The program.
    pub program: Option<PathBuf>,
    /// Additional arguments.
    pub arguments: Vec<String>,
    /// Cargo features; even an empty list means a build.
    pub features: Option<Vec<String>>,
    /// The commit to build.
    pub commit: Option<String>,
}

/// What is preloaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Library {
    /// An allocator, by its name.
    Allocator(String),
    /// Any library.
    File(PathBuf),
}

impl Level {
    /// Reads a level.
    ///
    /// # Errors
    /// Says which word is not understood, and what there is.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut level = Self { text: text.trim().into(), ..Self::default() };
        let words =
            shell_words::split(text).map_err(|_| format!("a quote is missing in {text:?}"))?;
        for word in words {
            level.add(&word)?;
        }
        Ok(level)
    }

    fn add(&mut self, word: &str) -> Result<(), String> {
        let (kind, rest) = word.split_once(':').unwrap_or((word, ""));
        let named = || match rest {
            "" => Err(format!("{word:?}: a name is missing after the colon")),
            rest => Ok(rest.to_owned()),
        };
        match kind {
            "allocator" => once(&mut self.library, Library::Allocator(named()?), "library"),
            "preload" => once(&mut self.library, Library::File(named()?.into()), "library"),
            "program" => once(&mut self.program, named()?.into(), "program"),
            "commit" => once(&mut self.commit, named()?, "commit"),
            "argument" => {
                self.arguments.push(rest.into());
                Ok(())
            }
            "features" if word.contains(':') => {
                let features = self.features.get_or_insert_default();
                features.extend(rest.split(',').filter(|f| !f.is_empty()).map(str::to_owned));
                Ok(())
            }
            _ => self.set(word),
        }
    }

    fn set(&mut self, word: &str) -> Result<(), String> {
        let (name, value) = word.split_once('=').filter(|(name, _)| is_name(name)).ok_or_else(|| {
            format!(
                "{word:?} is not part of a level; there are NAME=VALUE, allocator:NAME, preload:FILE, \
                 program:FILE, argument:TEXT, features:NAME,NAME and commit:NAME, so perhaps argument:{word}"
            )
        })?;
        if self.variables.iter().any(|(other, _)| other == name) {
            return Err(format!("{name} is set twice in {:?}", self.text));
        }
        self.variables.push((name.into(), value.into()));
        Ok(())
    }

    /// What this level sets: no two factors may set the same thing.
    pub fn decides(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.variables.iter().map(|(name, _)| name.as_str()).collect();
        all.extend(self.library.as_ref().map(|_| "the library"));
        all.extend(self.program.as_ref().map(|_| "the program"));
        all.extend(self.commit.as_ref().map(|_| "the commit"));
        all
    }

    /// This level with another one on top, which wins.
    #[must_use]
    pub fn with(&self, other: &Self) -> Self {
        let mut sum = self.clone();
        sum.text = [self.text.as_str(), &other.text].join(" ").trim().into();
        sum.variables.retain(|(name, _)| other.variables.iter().all(|(o, _)| o != name));
        sum.variables.extend(other.variables.iter().cloned());
        sum.library = other.library.clone().or(sum.library);
        sum.program = other.program.clone().or(sum.program);
        sum.commit = other.commit.clone().or(sum.commit);
        sum.arguments.extend(other.arguments.iter().cloned());
        if let Some(more) = &other.features {
            let features = sum.features.get_or_insert_default();
            features.extend(more.iter().cloned());
            features.sort();
            features.dedup();
        }
        sum
    }

    /// Whether something has to be built for it.
    pub fn is_built(&self) -> bool {
        self.features.is_some() || self.commit.is_some()
    }
}

fn once<T>(place: &mut Option<T>, value: T, what: &str) -> Result<(), String> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("a level has one {what}")),
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(text: &str) -> Level {
        Level::parse(text).unwrap()
    }

    #[test]
    fn every_kind_of_word_is_read() {
        let all = level(
            "A=1 B='x y' preload:/l.so program:./p argument:-v argument: features:b,a commit:v1",
        );
        assert_eq!(all.variables, [("A".into(), "1".into()), ("B".into(), "x y".into())]);
        assert_eq!(all.library, Some(Library::File("/l.so".into())));
        assert_eq!((all.program, all.commit), (Some("./p".into()), Some("v1".into())));
        assert_eq!(all.arguments, ["-v", ""]);
        assert_eq!(level("allocator:system").library, Some(Library::Allocator("system".into())));
        assert_eq!(level("  "), Level::default());
        assert!(level("features:").is_built() && !level("A=1").is_built());
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, words) in [
            ("1=2", "is not part of a level"),
            ("alocator:x", "allocator:NAME"),
            ("features", "features:NAME"),
            ("commit:", "a name is missing"),
            ("commit:a commit:b", "a level has one commit"),
            ("allocator:a preload:b", "a level has one library"),
            ("A=1 A=2", "A is set twice"),
            ("A='1", "a quote is missing"),
        ] {
            let why = Level::parse(text).unwrap_err();
            assert!(why.contains(words), "{text}: {why}");
        }
    }

    #[test]
    fn the_level_on_top_wins_and_what_can_add_up_does() {
        let sum = level("A=1 B=1 features:b commit:x argument:1")
            .with(&level("B=2 features:a argument:2"));
        assert_eq!(sum.variables, [("A".into(), "1".into()), ("B".into(), "2".into())]);
        assert_eq!(sum.features.unwrap(), ["a", "b"]);
        assert_eq!(
            (sum.commit.as_deref(), &sum.arguments[..]),
            (Some("x"), &["1".into(), "2".into()][..])
        );
    }
}
