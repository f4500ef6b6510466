//! Other allocators, each as a shared library that a program can be preloaded with.
//!
//! They are built from the sources in their registry crates, by their authors' own release settings,
//! with `malloc` overridden and without hardening, debugging or statistics. mimalloc 3 is always
//! there; the features `mimalloc2`, `snmalloc`, `jemalloc` and `rpmalloc` (together: `all`) add the others,
//! `mimalloc-secure` and `snmalloc-checks` (together: `secure`) what their authors offer as hardened builds.
//!
//! ```
//! let mimalloc = allod_peers::built().into_iter().find(|p| p.name == "mimalloc").unwrap();
//! assert!(mimalloc.version.starts_with("3."));
//! assert!(std::path::Path::new(mimalloc.library).is_file());
//! ```

/// A peer that was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    /// The allocator's name, such as `mimalloc`.
    pub name: &'static str,
    /// Its version.
    pub version: &'static str,
    /// Where the build put the library.
    pub library: &'static str,
}

impl Peer {
    /// The name of the library's file. Two versions of an allocator have the same name, but not the same file.
    #[must_use]
    pub fn file_name(&self) -> &'static str {
        file_name(self.library)
    }
}

/// Name, version, library, and the library's contents.
static BUILT: &[(&str, &str, &str, &[u8])] = &include!(concat!(env!("OUT_DIR"), "/peers.rs"));

/// The peers that this build has.
pub fn built() -> Vec<Peer> {
    BUILT.iter().map(|&(name, version, library, _)| Peer { name, version, library }).collect()
}

/// The contents of each peer's library, with the file's name: for an installation that no longer has the build's folder.
///
/// ```
/// let (name, bytes) = allod_peers::libraries().next().unwrap();
/// assert_eq!(name, "libmimalloc.so");
/// assert!(bytes.starts_with(b"\x7fELF"));
/// ```
pub fn libraries() -> impl Iterator<Item = (&'static str, &'static [u8])> {
    BUILT.iter().map(|&(_, _, library, bytes)| (file_name(library), bytes))
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_enabled_peer_was_built() {
        let peers = built();
        for (name, version, enabled) in [
            ("mimalloc", "3.", cfg!(feature = "mimalloc")),
            ("mimalloc", "2.", cfg!(feature = "mimalloc2")),
            ("snmalloc", "", cfg!(feature = "snmalloc")),
            ("rpmalloc", "", cfg!(feature = "rpmalloc")),
            ("mimalloc-secure", "3.", cfg!(feature = "mimalloc-secure")),
            ("snmalloc-checks", "", cfg!(feature = "snmalloc-checks")),
        ] {
            let found = peers.iter().any(|p| p.name == name && p.version.starts_with(version));
            assert_eq!(found, enabled, "{name} {version} in {peers:?}");
        }
    }
}
