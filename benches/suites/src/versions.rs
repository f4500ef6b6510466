//! The versions of the suites' subjects.

use allod_lab::subject::libc_version;

/// The description of a subject with its version; empty for one without a version, such as a loop.
pub(crate) fn of(subject: &str) -> String {
    match subject {
        "allod" | "full" | "typed" | "mk" | "allod-heap" => {
            format!("Allod {}", env!("CARGO_PKG_VERSION"))
        }
        "glibc" | "malloc" => libc_version(),
        "mimalloc" => of_crate("libmimalloc-sys"),
        other => of_crate(other),
    }
}

/// A crate and its version, as the lock file had it when this was built.
fn of_crate(name: &str) -> String {
    let mut all = env!("SUITE_PEERS").split(", ");
    let found = all.find(|peer| peer.strip_prefix(name).is_some_and(|rest| rest.starts_with(' ')));
    found.unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn every_library_says_its_version() {
        let has = |subject: &str, words: &str| {
            let version = of(subject);
            let digits = version.rsplit(' ').next().unwrap().split('.').count();
            assert!(version.starts_with(words) && digits >= 2, "{subject}: {version}");
        };
        has("bumpalo", "bumpalo 3.");
        has("bump-scope", "bump-scope ");
        has("blink-alloc", "blink-alloc ");
        has("mimalloc", "libmimalloc-sys ");
        has("malloc", "glibc 2.");
        has("typed", "Allod ");
        assert_eq!(of("memcpy"), "");
    }
}
