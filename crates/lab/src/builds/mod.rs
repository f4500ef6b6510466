//! Builds of a repository's commits, each in its own worktree, and of its sources as they are.
//!
//! ```text
//! ~/.cache/allod/builds/                     Builds::cache
//!     3f2a9c01b7de-5e1d0c7a/                 a commit, and a hash of features, command and flags
//!         build.txt                          its description; written last: without it the build is incomplete
//!         liballod.so, or allod              what was built, or
//!         tree/                              the worktree, if a user's command built it
//!     3f2a9c01b7de-5e1d0c7a.lock             held by the builder
//!     sources-91d4c0e2-5e1d0c7a/             sources as they are: cargo knows what has changed in them
//! ```
//!
//! A worktree in which cargo built the library or the command is removed afterwards. The rest stays for the
//! next measurement; the whole folder may be removed at any time.

pub mod git;
mod lock;

use lock::Lock;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The file that marks a build as complete.
const WORDS: &str = "build.txt";
/// The number of lines shown of a failed build's output.
const SHOWN: usize = 12;

/// Where builds come from and where they are kept.
#[derive(Clone, Debug)]
pub struct Builds {
    /// The repository.
    pub repository: PathBuf,
    /// The folder of finished builds.
    pub cache: PathBuf,
    /// What a build is to leave.
    pub goal: Goal,
}

/// What a build is to leave.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Goal {
    /// `liballod.so`, by cargo.
    Library,
    /// The command `allod`, by cargo, for rows that are measured within it.
    Command,
    /// A worktree in which a user's command has run.
    Tree(String),
}

/// What is to be built.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Wanted {
    /// The full hash of the commit; none for the sources as they are.
    pub commit: Option<String>,
    /// Cargo's features, sorted.
    pub features: Vec<String>,
}

/// What was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built {
    /// What it is, in a few words.
    pub origin: String,
    /// The commit, with `+changes` for modified sources.
    pub commit: String,
    /// The library to preload, or the worktree.
    pub product: Product,
    /// The folder in the cache.
    pub place: PathBuf,
}

/// What a build leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Product {
    /// Allod's library.
    Library(PathBuf),
    /// Allod's command.
    Command(PathBuf),
    /// A worktree in which the user's command has run.
    Tree(PathBuf),
}

/// The folder of finished builds: `allod/builds` in the user's cache.
///
/// # Errors
/// When the user has no cache folder.
pub fn default_cache() -> Result<PathBuf, String> {
    let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    let cache = cache.ok_or("HOME is not set; name a folder for builds with --builds")?;
    Ok(cache.join("allod/builds"))
}

impl Builds {
    /// Builds a library, a command or a worktree, or finds it in the cache.
    ///
    /// # Errors
    /// When the build fails, with the last lines of its output.
    pub fn make(&self, wanted: &Wanted) -> Result<Built, String> {
        let place = self.cache.join(self.key(wanted));
        let cannot = |e| format!("cannot keep a build in {}: {e}", place.display());
        fs::create_dir_all(&place).map_err(cannot)?;
        let _lock = Lock::take(&lock_of(&place)).map_err(cannot)?;
        let built = self.describe(wanted, place);
        // The sources may have changed; cargo knows.
        if wanted.commit.is_none() || !built.place.join(WORDS).is_file() {
            self.build(wanted, &built)?;
        }
        Ok(built)
    }

    /// Removes a build.
    pub fn discard(&self, built: &Built) {
        if let Product::Tree(tree) = &built.product {
            git::remove_worktree(&self.repository, tree);
        }
        let _ = fs::remove_dir_all(&built.place);
        let _ = fs::remove_file(lock_of(&built.place));
    }

    /// The name of a build's folder.
    fn key(&self, wanted: &Wanted) -> String {
        let hash = |what: &dyn Fn(&mut DefaultHasher)| {
            let mut hasher = DefaultHasher::new();
            what(&mut hasher);
            hasher.finish() as u32
        };
        let flags = ["RUSTFLAGS", "RUSTUP_TOOLCHAIN", "CFLAGS", "CC"].map(std::env::var_os);
        let how = hash(&|h| (&wanted.features, &self.goal, &flags).hash(h));
        match &wanted.commit {
            Some(commit) => format!("{:.12}-{how:08x}", commit),
            None => format!("sources-{:08x}-{how:08x}", hash(&|h| self.repository.hash(h))),
        }
    }

    fn describe(&self, wanted: &Wanted, place: PathBuf) -> Built {
        let (commit, short) = match &wanted.commit {
            Some(commit) => (commit.clone(), format!("{commit:.12}")),
            None => (git::state(&self.repository), git::state(&self.repository)),
        };
        let features = match &wanted.features[..] {
            [] => String::new(),
            some => format!(" with {}", some.join(", ")),
        };
        let product = match &self.goal {
            Goal::Library => Product::Library(place.join("liballod.so")),
            Goal::Command => Product::Command(place.join("allod")),
            Goal::Tree(_) => Product::Tree(place.join("tree")),
        };
        Built { origin: format!("built from {short}{features}"), commit, product, place }
    }

    fn build(&self, wanted: &Wanted, built: &Built) -> Result<(), String> {
        let tree = match &wanted.commit {
            Some(commit) => {
                let tree = built.place.join("tree");
                git::add_worktree(&self.repository, &tree, commit)?;
                tree
            }
            None => self.repository.clone(),
        };
        let done = self.run(wanted, built, &tree);
        let kept = done.is_ok() && matches!(built.product, Product::Tree(_));
        if wanted.commit.is_some() && !kept {
            git::remove_worktree(&self.repository, &tree);
        }
        done
    }

    fn run(&self, wanted: &Wanted, built: &Built, tree: &Path) -> Result<(), String> {
        let features = wanted.features.join(",");
        let target = target(wanted, built, tree);
        let mut command = match &self.goal {
            Goal::Library => cargo("allod-capi", &features, &target),
            Goal::Command => cargo("allod-cli", &features, &target),
            Goal::Tree(words) => {
                let mut shell = Command::new("sh");
                shell.arg("-c").arg(words).env("FEATURES", &features);
                shell
            }
        };
        let output = command.current_dir(tree).stdin(Stdio::null()).output();
        let output = output.map_err(|e| format!("cannot build in {}: {e}", tree.display()))?;
        if !output.status.success() {
            let said =
                [output.stdout, output.stderr].map(|s| String::from_utf8_lossy(&s).into_owned());
            return Err(format!(
                "the build failed: {}\n{}",
                built.origin,
                last_lines(&said.concat())
            ));
        }
        if let Product::Library(file) | Product::Command(file) = &built.product {
            let from = target.join("release").join(file.file_name().unwrap_or_default());
            // A file that a process has mapped is not overwritten: the new file gets the name once it is
            // complete.
            let whole = file.with_extension("new");
            let put = fs::copy(&from, &whole).and_then(|_| fs::rename(&whole, file));
            put.map_err(|e| format!("the build did not make {}: {e}", from.display()))?;
        }
        let words = format!("{}\ngoal: {:?}\n", built.origin, self.goal);
        fs::write(built.place.join(WORDS), words)
            .map_err(|e| format!("cannot write to {}: {e}", built.place.display()))
    }
}

/// The file whose lock a builder holds.
fn lock_of(place: &Path) -> PathBuf {
    let mut name = place.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Cargo's target folder: in a temporary worktree, or, for the sources as they are, in the cache, one for
/// each set of features, since libraries with different features have the same name.
fn target(wanted: &Wanted, built: &Built, tree: &Path) -> PathBuf {
    if wanted.commit.is_some() { tree.join("target") } else { built.place.join("target") }
}

fn cargo(package: &str, features: &str, target: &Path) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--release", "--locked", "--package", package, "--features", features]);
    cargo.env("CARGO_TARGET_DIR", target);
    cargo
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(SHOWN)..].join("\n")
}

#[cfg(test)]
mod tests;
