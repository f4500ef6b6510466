//! `allod setup`.

use crate::failure::Failure;
use crate::output::say;
use allod_lab::{files, setup};
use std::path::PathBuf;

/// Build and install the libraries that the command works with
///
/// `cargo install` installs the command alone. This builds liballod.so, liballod-hardened.so, the recorder and the library
/// of `allod scheme` with cargo, and puts them into ~/.local/share/allod/VERSION (or below XDG_DATA_HOME), with the
/// programs and traces of `allod bench heap`.
#[derive(clap::Args)]
pub struct Args {
    /// Install for everybody who runs this command: into ../lib/allod, from the command's folder
    #[arg(long)]
    all_users: bool,
    /// Build from a checkout of Allod [default: from crates.io]
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
}

/// Builds, installs, and says where.
pub fn run(args: &Args) -> Result<(), Failure> {
    let folder = if args.all_users { files::shared_folder() } else { files::own_folder() };
    let folder = folder.ok_or_else(|| "neither XDG_DATA_HOME nor HOME is set".to_owned())?;
    setup::install(&folder, args.from.as_deref(), allod_peers::libraries())?;
    say(&format!("Allod {} is set up in {}\n", env!("CARGO_PKG_VERSION"), folder.display()))
}
