//! The compilers that there are on this machine.

use super::systems::SYSTEMS;
use allod_lab::model::Arm;
use allod_lab::{files, program};
use allod_scheme::cc::Options;
use allod_scheme::{Codegen, Settings};
use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A strategy of this compiler.
#[derive(Clone, Copy, Debug)]
pub struct Strategy {
    /// The name that its arms begin with.
    pub name: &'static str,
    /// What it changes, in words that follow the compiler's.
    about: &'static str,
    /// How it compiles.
    pub settings: fn() -> Settings,
}

/// The strategy that is compared with other systems.
pub const USUAL: Strategy = Strategy { name: "allod", about: "", settings: Settings::default };
/// Objects are made by calls of constructors.
pub const CONSTRUCTORS: Strategy = Strategy {
    name: "constructors",
    about: ", with --codegen=constructors",
    settings: || Settings { codegen: Codegen::Constructors, ..Settings::default() },
};
/// Types are not inferred.
pub const UNTYPED: Strategy = Strategy {
    name: "untyped",
    about: ", with --disable types --disable regions",
    settings: || Settings {
        disabled: vec!["types".into(), "regions".into()],
        ..Settings::default()
    },
};
/// No scopes are inferred, as in the two others that are slower.
pub const UNSCOPED: Strategy = Strategy {
    name: "unscoped",
    about: ", with --disable regions",
    settings: || Settings { disabled: vec!["regions".into()], ..Settings::default() },
};

/// All strategies; each is measured by every C compiler.
const STRATEGIES: [Strategy; 4] = [USUAL, UNSCOPED, CONSTRUCTORS, UNTYPED];

/// The C compilers.
pub const COMPILERS: [&str; 2] = ["gcc", "clang"];

impl Strategy {
    /// Its arm by a C compiler.
    pub fn arm(&self, cc: &str) -> String {
        format!("{}-{cc}", self.name)
    }
}

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
    let mut all = STRATEGIES.iter().flat_map(|s| COMPILERS.map(|cc| (*s, cc)));
    all.find(|(strategy, cc)| arm == strategy.arm(cc))
}

/// Whether an arm is compared with this compiler's others only.
pub fn is_apart(arm: &str) -> bool {
    strategy(arm).is_some_and(|(strategy, _)| strategy.name != USUAL.name)
}

/// How C is compiled for measurements.
pub fn options(cc: &str, library: PathBuf) -> Options {
    Options { cc: cc.into(), level: 2, checked: false, library, link: Vec::new() }
}

/// Finds this compiler's C compilers, and other systems.
pub fn arms() -> Found {
    let mut found = Found::default();
    if let Err(why) = files::scheme_library() {
        found.missing.push(why);
    }
    for strategy in STRATEGIES {
        for cc in COMPILERS {
            let origin = format!("this compiler, by {cc} -O2{}", strategy.about);
            found.add(&strategy.arm(cc), &[cc, "--version"], &origin);
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
        let (found, cc) = strategy("allod-clang").unwrap();
        assert_eq!((found.name, cc), ("allod", "clang"));
        assert!(is_apart("untyped-gcc") && !is_apart("allod-gcc") && !is_apart("chez"));
        assert!(strategy("chez").is_none() && strategy("allod").is_none());
    }

    #[test]
    fn a_compiler_that_is_there_tells_its_version() {
        assert!(told(&["gcc", "--version"]).unwrap().contains('.'));
        assert_eq!(told(&["no-such-scheme", "--version"]), None);
    }
}
