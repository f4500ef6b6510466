//! What a report is made from.

use crate::model::Report;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// The last second of the year 9999.
const LAST_SECOND: u64 = 253_402_300_799;

/// A run and its label.
#[derive(Clone, Debug)]
pub struct Given {
    /// A file's name without its extension, or a run's number.
    pub label: String,
    /// The run's results.
    pub report: Report,
}

impl Given {
    /// When it was measured, such as `2026-11-22 13:26`; empty if unknown.
    pub fn time(&self) -> String {
        match self.report.provenance.unix_time {
            seconds @ 1..=LAST_SECOND => {
                let time = UNIX_EPOCH + Duration::from_secs(seconds);
                let text = humantime::format_rfc3339_seconds(time).to_string();
                text[..16].replace('T', " ")
            }
            _ => String::new(),
        }
    }
}

/// Reads a file written by `--json`.
///
/// # Errors
/// When it cannot be read, is not a report, or is one of a newer version.
pub fn read(file: &Path) -> Result<Given, String> {
    let label = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Given { label, report: Report::read(file)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Seen;

    #[test]
    fn a_time_that_nobody_can_have_measured_at_is_none() {
        let mut given = Given { label: String::new(), report: Report::of(Seen::default(), 1) };
        for (seconds, text) in [
            (0, ""),
            (1_700_000_000, "2023-11-14 22:13"),
            (LAST_SECOND, "9999-12-31 23:59"),
            (u64::MAX, ""),
        ] {
            given.report.provenance.unix_time = seconds;
            assert_eq!(given.time(), text);
        }
    }
}
