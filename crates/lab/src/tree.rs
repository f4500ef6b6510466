//! The commit at which something was measured, according to git.

use serde::{Deserialize, Serialize};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The state of a git work tree; empty where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tree {
    /// The full hash of the commit.
    pub commit: String,
    /// The branch that is checked out; empty if none is.
    pub branch: String,
    /// Whether files that git knows differ from the commit.
    pub modified: bool,
}

impl Tree {
    /// The tree in which this process was started, as it was at the first call.
    pub fn here() -> &'static Self {
        static HERE: OnceLock<Tree> = OnceLock::new();
        HERE.get_or_init(|| Self::of(Path::new(".")))
    }

    /// The tree around a folder.
    pub fn of(folder: &Path) -> Self {
        let status = ["status", "--porcelain=v2", "--branch", "--untracked-files=no"];
        git(folder, &status).map_or_else(Self::default, |text| Self::from_status(&text))
    }

    fn from_status(text: &str) -> Self {
        let header = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name));
            value.filter(|value| !value.starts_with('(')).unwrap_or_default().to_owned()
        };
        Self {
            commit: header("# branch.oid "),
            branch: header("# branch.head "),
            modified: text.lines().any(|line| !line.starts_with('#')),
        }
    }

    /// The short hash of the commit, with a `+` if files were modified; empty if unknown.
    ///
    /// ```
    /// use allod_lab::Tree;
    /// let commit = "0123456789abcdef0123456789abcdef01234567".to_owned();
    /// let tree = Tree { commit, branch: "main".into(), modified: true };
    /// assert_eq!(tree.short(), "0123456789+");
    /// ```
    pub fn short(&self) -> String {
        let short: String = self.commit.chars().take(10).collect();
        if self.modified { short + "+" } else { short }
    }
}

/// git's output in a folder; `None` if it fails or is not installed.
pub(crate) fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
    // It must not take the index lock from another git command.
    let output = command.env("GIT_OPTIONAL_LOCKS", "0").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: &str = "# branch.oid 5e1fa87\n# branch.head main\n# branch.ab +0 -0";

    #[test]
    fn a_tree_knows_its_commit_branch_and_whether_it_is_modified() {
        let clean = Tree { commit: "5e1fa87".into(), branch: "main".into(), modified: false };
        assert_eq!(Tree::from_status(CLEAN), clean);
        let changed = format!("{CLEAN}\n1 .M N... 100644 100644 100644 1 1 file");
        assert_eq!(Tree::from_status(&changed), Tree { modified: true, ..clean });
    }

    #[test]
    fn what_is_not_there_is_empty() {
        let fresh = "# branch.oid (initial)\n# branch.head (detached)";
        assert_eq!(Tree::from_status(fresh), Tree::default());
        assert_eq!(Tree::of(Path::new("/proc")), Tree::default());
    }
}
