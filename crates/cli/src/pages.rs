//! `allod completions` and `allod man`: generated from the argument definitions.

use crate::failure::Failure;
use crate::output::say;
use clap::Command;
use clap_complete::Shell;
use std::path::PathBuf;

/// Print a shell's completions for this command
///
/// For bash, for instance: allod completions bash > ~/.local/share/bash-completion/completions/allod
#[derive(clap::Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// Print the manual page, or write one for each command
#[derive(clap::Args)]
pub struct Man {
    /// Where to write them: an existing folder, such as ~/.local/share/man/man1
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Prints a shell's script.
pub fn completions(args: &Completions, mut all: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut all, "allod", &mut script);
    say(&String::from_utf8_lossy(&script))
}

/// Prints the page of the command, or writes all of them.
pub fn man(args: &Man, all: Command) -> Result<(), Failure> {
    let Some(folder) = &args.folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(all).render(&mut page).map_err(|e| e.to_string())?;
        return say(&String::from_utf8_lossy(&page));
    };
    let cannot = |e| Failure::usage(format!("cannot write into {}: {e}", folder.display()));
    clap_mangen::generate_to(all, folder).map_err(cannot)
}
