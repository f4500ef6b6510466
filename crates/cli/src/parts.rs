//! `allod parts`, for the installation.

use crate::allocators;
use crate::failure::Failure;
use crate::output::say;
use allod_lab::files;

/// Lists the files that the command needs to measure and to compile, one a line; an installation puts them into
/// `../lib/allod`.
pub fn run() -> Result<(), Failure> {
    let mut parts =
        vec![files::launcher()?, files::workload()?, files::null_subject()?, files::recorder()?];
    for name in files::TRACES {
        parts.push(files::trace(name)?);
    }
    parts.push(files::scheme_library()?);
    parts.extend(allocators::built().into_iter().map(|peer| peer.library));
    say(&parts.iter().map(|part| format!("{}\n", part.display())).collect::<String>())
}
