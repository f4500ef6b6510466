//! Checks the settings of an experiment: a setting that nobody reads would make two points identical.

use super::level::Level;
use crate::names;
use crate::process::Launch;
use crate::{files, model::Arm};
use std::time::Duration;

/// Allod's settings, from the heap's own table: the name, the accepted values, and the largest value.
const TABLE: &[(&str, &str, u32)] = &include!(concat!(env!("OUT_DIR"), "/settings.rs"));
/// The prefix of all names of Allod's settings.
pub const PREFIX: &str = "ALLOD_";
/// The prefix of the switches of a library with the feature `knobs`.
const KNOBS: &str = "ALLOD_BAND_B";

/// Checks the settings of a level on a library of this version.
///
/// # Errors
/// Names the setting or value that does not exist, and those that do.
pub fn check(level: &Level) -> Result<(), String> {
    level.variables.iter().try_for_each(|(name, value)| match name.strip_prefix(KNOBS) {
        _ if !name.starts_with(PREFIX) => Ok(()),
        Some("0" | "1" | "2" | "3" | "4" | "5" | "6" | "7") => knob(level, name, value),
        _ => setting(name, value),
    })
}

fn setting(name: &str, value: &str) -> Result<(), String> {
    let Some((_, takes, most)) = TABLE.iter().find(|(known, ..)| *known == name) else {
        let known: Vec<&str> = TABLE.iter().map(|(name, ..)| *name).collect();
        return Err(names::unknown("setting", name, &known));
    };
    match value.parse::<u32>() {
        Ok(n) if n <= *most => Ok(()),
        _ => Err(format!("{name}={value}: expected {takes}")),
    }
}

fn knob(level: &Level, name: &str, value: &str) -> Result<(), String> {
    let has_knobs = level.features.iter().flatten().any(|f| f.ends_with("knobs"));
    if !has_knobs && level.library.is_none() {
        return Err(format!(
            "only a library with the feature knobs knows {name}: add --with features:allod-heap/knobs"
        ));
    }
    match value {
        "0" | "1" => Ok(()),
        _ => Err(format!("{name}={value}: expected 0 or 1")),
    }
}

/// Asks an arm's library whether it knows the arm's settings: it names those that it ignores.
///
/// # Errors
/// In the library's words.
pub fn taken(arm: &Arm) -> Result<(), String> {
    let set = arm.environment.iter().any(|(name, _)| name.to_string_lossy().starts_with(PREFIX));
    let Some(library) = arm.preload.as_deref().filter(|_| set) else { return Ok(()) };
    let used = Launch {
        preload: Some(library),
        environment: &arm.environment,
        limit: Some(Duration::from_secs(20)),
        ..Launch::new(&files::workload()?, &["probe".into()])
    }
    .run()?;
    let ignored = used.stderr.lines().filter_map(|line| line.strip_prefix("allod: "));
    match ignored.rev().find(|words| words.contains(" ignored; ")) {
        Some(words) => Err(format!("{}: {words}", arm.name)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_nobody_reads_are_refused() {
        let check = |text| check(&Level::parse(text).unwrap());
        for right in [
            "ALLOD_HUGEPAGES=2 OTHER=x",
            "ALLOD_BAND_B4=0 features:allod-heap/knobs",
            "ALLOD_BAND_B4=0 preload:/with/knobs.so",
        ] {
            assert_eq!(check(right), Ok(()), "{right}");
        }
        for (wrong, words) in [
            ("ALLOD_HUGEPAGE=2", "no setting \"ALLOD_HUGEPAGE\"; did you mean ALLOD_HUGEPAGES?"),
            ("ALLOD_HUGEPAGES=3", "ALLOD_HUGEPAGES=3: expected 0, 1 or 2"),
            ("ALLOD_BAND_B4=0", "features:allod-heap/knobs"),
            ("ALLOD_BAND_B4=2 features:knobs", "expected 0 or 1"),
            ("ALLOD_BAND_B9=0 features:knobs", "no setting"),
        ] {
            let why = check(wrong).unwrap_err();
            assert!(why.contains(words), "{wrong}: {why}");
        }
    }
}
