//! The machine on which a result was measured.

use serde::{Deserialize, Serialize};
use std::fs;

/// The facts about the machine that matter for a measurement. One that cannot be read is an empty string
/// or 0.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system and its release, such as `Linux 6.1.0`.
    pub os: String,
    /// Processor architecture, such as `x86_64`.
    pub arch: String,
    /// The processor's own name.
    pub cpu: String,
    /// Processors this process may run on.
    pub cores: usize,
    /// Main memory in KiB.
    pub memory_kib: u64,
    /// When the kernel uses huge pages automatically: `always`, `madvise` or `never`.
    pub huge_pages: String,
    /// How the processor's clock is chosen, such as `performance`.
    #[serde(default)]
    pub governor: String,
}

impl Machine {
    /// Describes the machine this runs on.
    pub fn here() -> Self {
        let release = read("/proc/sys/kernel/osrelease");
        Self {
            os: format!("Linux {}", release.trim()),
            arch: std::env::consts::ARCH.into(),
            cpu: field("/proc/cpuinfo", &["model name", "CPU part"]),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_kib: field("/proc/meminfo", &["MemTotal"])
                .split(' ')
                .next()
                .and_then(|n| n.parse().ok())
                .unwrap_or(0),
            huge_pages: read("/sys/kernel/mm/transparent_hugepage/enabled")
                .split(['[', ']'])
                .nth(1)
                .unwrap_or_default()
                .into(),
            governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").trim().into(),
        }
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// The value of the first `name : value` line in a file of the kernel.
fn field(path: &str, names: &[&str]) -> String {
    read(path)
        .lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| names.contains(&key.trim()))
        .map(|(_, value)| value.trim().to_owned())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_cores_and_memory() {
        let m = Machine::here();
        assert!(m.cores > 0 && m.memory_kib > 1024, "{m:?}");
        assert!(m.os.len() > "Linux ".len(), "{m:?}");
    }
}
