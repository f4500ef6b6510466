//! How, when and with what something was measured.

use super::Arm;
use crate::shard::Shard;
use crate::tree::Tree;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// How and when something was measured. Fields that an older report does not have are empty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// The run's random name, which identifies it everywhere.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The version of the laboratory.
    pub version: String,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// When the report was made, in seconds since 1970.
    pub unix_time: u64,
    /// The seed of the order of the arms, for `--seed`.
    pub seed: u64,
    /// Rounds in which the machine did not run equally fast for all arms.
    pub disturbed_rounds: usize,
    /// Those of them that were repeated and do not count.
    pub repeated_rounds: usize,
    /// Whether it was stopped before there were enough rounds.
    pub stopped: bool,
    /// Why there are no hardware counters, as an `errno` of perf_event_open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters_errno: Option<i32>,
    /// The git work tree that the command was started in.
    #[serde(default)]
    pub tree: Tree,
    /// The compilers that built the laboratory, including the subjects built with it.
    #[serde(default)]
    pub compiler: String,
    /// Their flags.
    #[serde(default)]
    pub flags: String,
    /// Everything that the amount of work depends on, by name: runs that differ here did
    /// different work.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, String>,
    /// Which share of the workloads was measured, if not all were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// What each arm was.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arms: Vec<ArmRecord>,
}

impl Provenance {
    /// Of this command, now.
    pub(super) fn now(seed: u64) -> Self {
        let random = || RandomState::new().build_hasher().finish();
        Self {
            id: format!("{:016x}{:016x}", random(), random()),
            version: env!("CARGO_PKG_VERSION").into(),
            command: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
            unix_time: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |t| t.as_secs()),
            seed,
            tree: Tree::here().clone(),
            compiler: env!("LAB_COMPILER").into(),
            flags: env!("LAB_FLAGS").into(),
            ..Self::default()
        }
    }
}

/// A description of an arm.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmRecord {
    /// The name in tables and files.
    pub name: String,
    /// What it is and where it came from, with its version where that is known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub origin: String,
    /// The commit it was built from, if each arm has its own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub commit: String,
    /// The executable, if it is not the workload's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub program: String,
    /// Its own arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// Its own variables, as `NAME=VALUE`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// The library that was preloaded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub library: String,
    /// A hash of that library's bytes, or the executable's: equal for the same build.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub fingerprint: String,
}

impl ArmRecord {
    /// Describes an arm.
    pub fn of(arm: &Arm) -> Self {
        let path = |path: &Option<std::path::PathBuf>| {
            path.as_ref().map_or_else(String::new, |path| path.display().to_string())
        };
        let file = arm.preload.as_ref().or(arm.program.as_ref());
        Self {
            name: arm.name.clone(),
            origin: arm.origin.clone(),
            commit: arm.commit.clone().unwrap_or_default(),
            program: path(&arm.program),
            arguments: arm.arguments.iter().map(|a| a.to_string_lossy().into_owned()).collect(),
            environment: arm
                .environment
                .iter()
                .map(|(name, value)| {
                    format!("{}={}", name.to_string_lossy(), value.to_string_lossy())
                })
                .collect(),
            library: path(&arm.preload),
            fingerprint: file.and_then(|file| fingerprint(file)).unwrap_or_default(),
        }
    }
}

/// FNV-1a of a file's bytes (Fowler, Noll and Vo): the same in every version of the laboratory.
fn fingerprint(file: &Path) -> Option<String> {
    let bytes = std::fs::read(file).ok()?;
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3);
    Some(format!("{:016x}", bytes.iter().fold(0xCBF2_9CE4_8422_2325, step)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_a_name_of_its_own_and_says_what_built_it() {
        let (one, other) = (Provenance::now(1), Provenance::now(1));
        assert_ne!(one.id, other.id);
        assert!(one.compiler.contains("rustc"), "{}", one.compiler);
        assert!(one.flags.contains("opt-level"), "{}", one.flags);
    }

    #[test]
    fn an_arm_is_written_down_with_a_fingerprint_of_its_file() {
        let file = std::env::temp_dir().join(format!("allod-fingerprint-{}", std::process::id()));
        std::fs::write(&file, "foobar").unwrap();
        let arm = Arm {
            preload: Some(file.clone()),
            environment: vec![("A".into(), "1".into())],
            ..Arm::new("x")
        };
        let record = ArmRecord::of(&arm);
        std::fs::remove_file(&file).unwrap();
        // A test vector published with the function.
        assert_eq!(record.fingerprint, "85944171f73967e8");
        assert_eq!(record.environment, ["A=1"]);
        assert_eq!(ArmRecord::of(&Arm::new("plain")).fingerprint, "");
    }
}
