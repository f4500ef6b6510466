//! The laboratory.

use std::path::PathBuf;

/// Finds `liballod.so` beside the running command or in the `deps` folder there.
pub fn find_liballod() -> Option<PathBuf> {
    let exe = std::env::current_exe().ok()?;
    let dir = exe.parent()?;
    [dir.join("liballod.so"), dir.join("deps/liballod.so"), dir.join("../lib/liballod.so")]
        .into_iter()
        .find(|p| p.is_file())
}
