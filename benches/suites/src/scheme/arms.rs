//! The compilers that there are on this machine.

use super::systems::SYSTEMS;
use allod_lab::model::Arm;
use allod_lab::{files, program};
use allod_scheme::cc::Options;
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A strategy of this compiler: the name that its arms begin with, and what it changes.
pub type Strategy = (&'static str, fn(Options) -> Options);

/// All strategies; each is measured by every C compiler.
pub const STRATEGIES: [Strategy; 1] = [("allod", |options| options)];

/// The C compilers.
const COMPILERS: [&str; 2] = ["gcc", "clang"];

/// What was found.
#[derive(Debug, Default)]
pub struct Found {
    /// The compilers, this one first.
    pub arms: Vec<Arm>,
    /// One sentence for each that is not there.
    pub missing: Vec<String>,
}

/// The strategy and the C compiler of an arm of this compiler.
pub fn strategy(arm: &str) -> Option<(Strategy, &'static str)> {
    let all = STRATEGIES.iter().flat_map(|s| COMPILERS.map(|cc| (*s, cc)));
    all.into_iter().find(|((name, _), cc)| arm == format!("{name}-{cc}"))
}

/// How this compiler compiles for measurements, before a strategy changes it.
pub fn options(cc: &str, library: PathBuf) -> Options {
    Options { cc: cc.into(), level: 2, checked: false, library }
}

/// Finds this compiler's C compilers, and other systems.
pub fn arms() -> Found {
    let mut found = Found::default();
    if let Err(why) = files::scheme_library() {
        found.missing.push(why);
    }
    for (name, _) in STRATEGIES {
        for cc in COMPILERS {
            let origin = format!("this compiler, by {cc} -O2");
            found.add(&format!("{name}-{cc}"), &[cc, "--version"], &origin);
        }
    }
    for system in &SYSTEMS {
        found.add(system.name, system.version, system.about);
    }
    found
}

impl Found {
    fn add(&mut self, name: &str, version: &[&str], origin: &str) {
        match told(version) {
            Some(version) => {
                self.arms.push(Arm { origin: format!("{origin}; {version}"), ..Arm::new(name) });
            }
            None => self.missing.push(format!("{name} is left out: there is no {}", version[0])),
        }
    }
}

/// The version that a command tells, on either stream: the first word of it that has a digit and a point.
fn told(words: &[&str]) -> Option<String> {
    let program = program::find(OsStr::new(words[0])).ok()?;
    let mut command = Command::new(program);
    let output = command.args(&words[1..]).stdin(Stdio::null()).output().ok()?;
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    let has = |word: &&str| word.contains('.') && word.contains(|c: char| c.is_ascii_digit());
    let word = text.split_whitespace().find(has).unwrap_or("of unknown version");
    Some(word.trim_matches([',', ')', '(']).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arm_of_this_compiler_has_a_strategy() {
        let ((name, _), cc) = strategy("allod-clang").unwrap();
        assert_eq!((name, cc), ("allod", "clang"));
        assert!(strategy("chez").is_none() && strategy("allod").is_none());
    }

    #[test]
    fn a_compiler_that_is_there_tells_its_version() {
        assert!(told(&["gcc", "--version"]).unwrap().contains('.'));
        assert_eq!(told(&["no-such-scheme", "--version"]), None);
    }
}
