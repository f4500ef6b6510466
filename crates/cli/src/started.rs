//! How a program of the user's is started, in the commands that measure one.

use crate::options::time;
use allod_lab::process::Output;
use std::ffi::OsString;
use std::time::Duration;

/// What it gets, when it is given up, and what becomes of what it prints.
#[derive(clap::Args)]
pub struct Started {
    /// A variable that the program gets, set or passed on (repeatable) [default: only those that say
    /// where things are]
    #[arg(long = "env", value_name = "NAME[=VALUE]", value_parser = variable)]
    pub environment: Vec<(OsString, OsString)>,
    /// When the program counts as hanging
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = time)]
    pub timeout: Duration,
    /// Show what the program prints
    #[arg(long)]
    show_output: bool,
}

impl Started {
    /// What becomes of what the program prints.
    pub fn output(&self) -> Output {
        if self.show_output { Output::Show } else { Output::Discard }
    }
}

/// A variable that is set, or one of this command's that passes.
fn variable(text: &str) -> Result<(OsString, OsString), String> {
    match text.split_once('=') {
        Some(("", _)) => Err("NAME=VALUE is wanted, or NAME for a variable to pass on".into()),
        Some((name, value)) => Ok((name.into(), value.into())),
        None => match std::env::var_os(text) {
            Some(value) => Ok((text.into(), value)),
            None => {
                Err(format!("there is no variable {text} to pass on; set it with {text}=VALUE"))
            }
        },
    }
}
