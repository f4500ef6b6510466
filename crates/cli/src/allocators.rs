//! The allocators that can be measured: those the user names, those built with this command, those
//! installed.

use crate::failure::Failure;
use crate::options::Options;
use allod_lab::subject::{self, Candidate, Found, Subject};

/// Finds every allocator, and reports those that cannot be used.
pub fn find(options: &Options) -> Vec<Subject> {
    let Found { subjects, refused } = subject::discover(&built(), &options.peers);
    for why in refused {
        eprintln!("allod: {why}");
    }
    subjects
}

/// The named allocators, or all if none is named, and the baseline; also returns the baseline's
/// full name.
pub fn choose(
    all: &[Subject],
    names: &[String],
    baseline: &str,
) -> Result<(Vec<Subject>, String), Failure> {
    let baseline = subject::find(all, baseline).map_err(Failure::usage)?;
    let mut picked = subject::pick(all, names).map_err(Failure::usage)?;
    if !picked.contains(baseline) {
        picked.push(baseline.clone());
    }
    Ok((picked, baseline.name.clone()))
}

/// The peers built together with this command.
pub fn built() -> Vec<Candidate> {
    let candidate = |peer: allod_peers::Peer| {
        let beside = allod_lab::files::installed_part(peer.file_name());
        Candidate {
            name: peer.name.into(),
            version: Some(peer.version.into()),
            library: beside.unwrap_or_else(|| peer.library.into()),
            origin: format!("{} {}, built with this command", peer.name, peer.version),
        }
    };
    allod_peers::built().into_iter().map(candidate).collect()
}
