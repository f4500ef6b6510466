//! `allod help`.

use crate::failure::Failure;
use crate::output::say;
use clap::Command;

/// Print this message, the help of a command, or the settings
#[derive(clap::Args)]
pub struct Args {
    /// A command, or `settings`
    #[arg(value_name = "COMMAND | settings")]
    topic: Vec<String>,
}

const SETTINGS: &str = include_str!(concat!(env!("OUT_DIR"), "/settings.txt"));

/// Prints the help of one of the commands, or the settings.
pub fn run(args: &Args, all: Command) -> Result<(), Failure> {
    if args.topic == ["settings"] {
        return say(SETTINGS);
    }
    say(&page(&args.topic, all)?)
}

fn page(topic: &[String], mut all: Command) -> Result<String, Failure> {
    all.build();
    let mut found = &mut all;
    for name in topic {
        found = found.find_subcommand_mut(name).ok_or_else(|| {
            Failure::usage(format!(
                "there is no help for '{}'; `allod help` lists the commands, and `allod help settings` the settings",
                topic.join(" ")
            ))
        })?;
    }
    Ok(found.render_long_help().to_string())
}
