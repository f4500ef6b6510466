//! The environment of a measured process: a short list of variables passed on, and those of its arm.
//!
//! A variable that configures an allocator, a language runtime or a library would tie a measurement to
//! this shell. So only variables for paths, user and locale are passed on.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

/// Names that are passed on; one that ends in `_` stands for all that begin with it.
const PASSES: [&str; 13] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "TERM",
    "TZ",
    "LANG",
    "LANGUAGE",
    "LC_",
];

/// The variable whose length shifts the start of the stack.
const PADDING: &str = "LAB_PADDING";

/// A process's environment: the variables of `outer` that are passed on, those in `set`, which come
/// last and win, and `padding` bytes. The variables for preloading are in the second list.
pub fn of(
    outer: impl Iterator<Item = (OsString, OsString)>,
    set: &[(OsString, OsString)],
    padding: usize,
) -> (Vec<(OsString, OsString)>, Option<OsString>) {
    let (preload, set): (Vec<_>, Vec<_>) =
        set.iter().cloned().partition(|(name, _)| name == "LD_PRELOAD");
    let mut all: Vec<_> = outer.filter(|(name, _)| passes(name)).collect();
    all.retain(|(name, _)| set.iter().all(|(other, _)| other != name));
    all.extend(set);
    all.push((PADDING.into(), "-".repeat(padding).into()));
    (all, preload.into_iter().next_back().map(|(_, value)| value))
}

fn passes(name: &OsStr) -> bool {
    PASSES.iter().any(|p| {
        name == OsStr::new(p) || p.ends_with('_') && name.as_bytes().starts_with(p.as_bytes())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(list: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        list.iter().map(|(n, v)| (OsString::from(n), OsString::from(v))).collect()
    }

    #[test]
    fn only_what_is_listed_or_set_gets_through() {
        let outer = pairs(&[
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("MALLOC_ARENA_MAX", "1"),
            ("LD_PRELOAD", "other.so"),
            ("JAVA_HOME", "/java"),
            ("TZ", "UTC"),
        ]);
        let set = pairs(&[("MIMALLOC_VERBOSE", "1"), ("TZ", "CET")]);
        let (all, preload) = of(outer.into_iter(), &set, 3);
        let wanted = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("MIMALLOC_VERBOSE", "1"),
            ("TZ", "CET"),
            ("LAB_PADDING", "---"),
        ];
        assert_eq!((all, preload), (pairs(&wanted), None));
    }

    #[test]
    fn what_an_arm_preloads_is_kept_from_the_launcher() {
        let (all, preload) = of(std::iter::empty(), &pairs(&[("LD_PRELOAD", "mine.so")]), 0);
        assert_eq!((all.len(), preload), (1, Some("mine.so".into())));
    }
}
