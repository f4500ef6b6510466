//! A process as `/proc` shows it.

use crate::Problem;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;

/// A process, which may have ended.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its number here.
    pub number: u32,
    /// Its own number for itself, which differs in a container.
    pub own_number: u32,
    /// The user whose rights it has.
    pub user: u32,
    /// The name of its program.
    pub name: String,
}

/// The system's counts for a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Facts {
    /// Bytes in memory.
    pub resident_bytes: u64,
    /// The maximum so far.
    pub peak_resident_bytes: u64,
    /// Page faults that needed no reading from a disk.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// Threads.
    pub threads: u64,
}

impl Process {
    /// The process with a number.
    ///
    /// # Errors
    /// When there is none, it has ended, or this user may not watch it.
    pub fn find(number: u32) -> Result<Self, Problem> {
        let status = read(number, "status").map_err(|e| Problem::of(number, &e))?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
            line.unwrap_or_default().trim().to_owned()
        };
        if field("State").starts_with(['Z', 'X']) {
            return Err(Problem::Ended(number));
        }
        let last = |text: String| text.split_whitespace().next_back().and_then(|n| n.parse().ok());
        let process = Self {
            number,
            own_number: last(field("NSpid")).unwrap_or(number),
            user: field("Uid").split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0),
            name: field("Name"),
        };
        // Whoever may follow this link may see what the process maps, too.
        fs::read_link(process.path("root")).map_err(|e| process.problem(&e))?;
        Ok(process)
    }

    /// The current name of its program.
    pub(crate) fn current_name(&self) -> Option<String> {
        Some(read(self.number, "comm").ok()?.trim_end().to_owned())
    }

    /// A file in the process's folder.
    pub fn path(&self, file: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{file}", self.number))
    }

    /// The problem when a file of the process cannot be read.
    pub fn problem(&self, error: &io::Error) -> Problem {
        match error.kind() {
            ErrorKind::PermissionDenied => Problem::Forbidden(self.number, self.user),
            _ => Problem::of(self.number, error),
        }
    }

    /// True when Allod's code is in the process: as a library, or in the program itself.
    pub fn has_allod(&self) -> bool {
        let maps = fs::read_to_string(self.path("maps")).unwrap_or_default();
        maps.contains("liballod") || contains(self.path("exe"), b"ALLOD_PURGE_DELAY_MS")
    }

    /// The system's counts; `None` once the process has ended.
    pub fn facts(&self) -> Option<Facts> {
        let status = read(self.number, "status").ok()?;
        let kib = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.trim().strip_suffix(" kB")?.parse::<u64>().ok()
        };
        let stat = read(self.number, "stat").ok()?;
        // After the name in brackets: the state, then numbers.
        let (_, rest) = stat.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        let number = |at: usize| fields.get(at)?.parse().ok();
        Some(Facts {
            // A process that is ending has given its memory back already.
            resident_bytes: kib("VmRSS:")? << 10,
            peak_resident_bytes: kib("VmHWM:")? << 10,
            minor_faults: number(7)?,
            major_faults: number(9)?,
            threads: number(17)?,
        })
    }

    /// The name of a thread by its number in the process; `None` if it has ended, or if numbers differ
    /// here.
    pub fn thread_name(&self, thread: u64) -> Option<String> {
        if self.number != self.own_number {
            return None;
        }
        let name = fs::read_to_string(self.path(&format!("task/{thread}/comm"))).ok()?;
        Some(name.trim_end().to_owned())
    }
}

fn read(process: u32, file: &str) -> io::Result<String> {
    let bytes = fs::read(format!("/proc/{process}/{file}"))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// True when a file contains these bytes.
fn contains(file: PathBuf, wanted: &[u8]) -> bool {
    let Ok(mut file) = File::open(file) else { return false };
    let mut kept = Vec::new();
    let mut more = vec![0; 1 << 20];
    loop {
        match file.read(&mut more) {
            Ok(0) | Err(_) => return false,
            Ok(n) => kept.extend_from_slice(&more[..n]),
        }
        if kept.windows(wanted.len()).any(|window| window == wanted) {
            return true;
        }
        // The possible beginning of a match.
        kept.drain(..kept.len().saturating_sub(wanted.len() - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_found_and_what_it_uses_is_known() {
        let process = Process::find(std::process::id()).unwrap();
        assert_eq!(process.own_number, process.number);
        let facts = process.facts().unwrap();
        assert!(facts.resident_bytes > 100 << 10, "{facts:?}");
        assert!(facts.minor_faults > 10 && facts.threads >= 1, "{facts:?}");
        assert!(process.thread_name(u64::from(process.number)).is_some());
    }

    #[test]
    fn a_number_without_a_process_is_a_problem() {
        // Greater than any that Linux gives.
        let problem = Process::find(1 << 30).unwrap_err();
        assert!(matches!(problem, Problem::Missing(_)), "{problem}");
    }

    #[test]
    fn bytes_are_found_across_the_edge_of_a_piece() {
        let path = std::env::temp_dir().join(format!("allod-top-{}", std::process::id()));
        let mut bytes = vec![b'.'; (1 << 20) - 3];
        bytes.extend_from_slice(b"needle");
        fs::write(&path, bytes).unwrap();
        assert!(contains(path.clone(), b"needle") && !contains(path.clone(), b"needles"));
        fs::remove_file(path).unwrap();
    }
}
