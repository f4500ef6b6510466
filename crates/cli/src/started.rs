//! How the commands that measure a user's program start it.

use crate::options::time;
use allod_lab::process::Output;
use std::ffi::OsString;
use std::time::Duration;

/// Its environment, its time limit, and what happens to its output.
#[derive(clap::Args)]
pub struct Started {
    /// An environment variable to set or pass on (repeatable) [default: only those for paths, user
    /// and locale]
    #[arg(long = "env", value_name = "NAME[=VALUE]", value_parser = variable)]
    pub environment: Vec<(OsString, OsString)>,
    /// The time after which the program counts as hanging
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = time)]
    pub timeout: Duration,
    /// Show the program's output
    #[arg(long)]
    show_output: bool,
}

impl Started {
    /// What happens to the program's output.
    pub fn output(&self) -> Output {
        if self.show_output { Output::Show } else { Output::Discard }
    }
}

/// A variable that is set, or one passed on from this command's environment.
fn variable(text: &str) -> Result<(OsString, OsString), String> {
    match text.split_once('=') {
        Some(("", _)) => Err("expected NAME=VALUE, or NAME for a variable to pass on".into()),
        Some((name, value)) => Ok((name.into(), value.into())),
        None => match std::env::var_os(text) {
            Some(value) => Ok((text.into(), value)),
            None => {
                Err(format!("there is no variable {text} to pass on; set it with {text}=VALUE"))
            }
        },
    }
}
