//! The few uses of git.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The repository that contains a folder.
///
/// # Errors
/// When there is none.
pub fn repository(folder: &Path) -> Result<PathBuf, String> {
    let said = git(folder, ["rev-parse", "--show-toplevel"]);
    said.map(PathBuf::from).map_err(|why| format!("{}: {why}", folder.display()))
}

/// The full hash of a commit named by a branch, a tag, `HEAD~3`, or the beginning of its hash.
///
/// # Errors
/// When there is no such commit.
pub fn commit(repository: &Path, name: &str) -> Result<String, String> {
    let found =
        git(repository, ["rev-parse", "--verify", "--quiet", &format!("{name}^{{commit}}")]);
    found.map_err(|_| format!("no commit {name:?} in {}", repository.display()))
}

/// The commit that is checked out, with `+changes` if files were modified.
pub fn state(repository: &Path) -> String {
    let Ok(head) = git(repository, ["rev-parse", "--short=12", "HEAD"]) else {
        return "no commit".into();
    };
    match git(repository, ["status", "--porcelain", "--untracked-files=no"]) {
        Ok(changes) if changes.is_empty() => head,
        _ => format!("{head}+changes"),
    }
}

/// Makes a worktree of a commit; anything at that place is removed.
///
/// # Errors
/// In git's words.
pub fn add_worktree(repository: &Path, place: &Path, commit: &str) -> Result<(), String> {
    remove_worktree(repository, place);
    let add = ["worktree", "add", "--quiet", "--force", "--detach"].map(OsStr::new);
    git(repository, add.into_iter().chain([place.as_os_str(), commit.as_ref()])).map(drop)
}

/// Removes a worktree, even one that git has forgotten or that is incomplete.
pub fn remove_worktree(repository: &Path, place: &Path) {
    let remove = ["worktree", "remove", "--force", "--force"].map(OsStr::new);
    let _ = git(repository, remove.into_iter().chain([place.as_os_str()]));
    let _ = std::fs::remove_dir_all(place);
    let _ = git(repository, ["worktree", "prune"]);
}

/// The output of a git command, without the final newline.
pub(super) fn git<S: AsRef<OsStr>>(
    folder: &Path,
    arguments: impl IntoIterator<Item = S>,
) -> Result<String, String> {
    let mut command = Command::new("git");
    command.arg("-C").arg(folder).args(arguments).stdin(Stdio::null());
    // In a git hook these would point to another repository.
    for name in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
        command.env_remove(name);
    }
    let output = command.output().map_err(|e| format!("git is needed: {e}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end().to_owned());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(words.trim_end().trim_start_matches("fatal: ").to_owned())
}
