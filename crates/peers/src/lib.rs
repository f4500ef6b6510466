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

/// The peers that this build has.
pub fn built() -> Vec<Peer> {
    // One line a peer: name, version and file, separated by tabs.
    include_str!(concat!(env!("OUT_DIR"), "/peers.tsv"))
        .lines()
        .filter_map(|line| {
            let mut fields = line.split('\t');
            Some(Peer { name: fields.next()?, version: fields.next()?, library: fields.next()? })
        })
        .collect()
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
