//! What a report is made from.

use crate::model::Report;
use serde::Deserialize;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

/// The newest schema that is understood.
const NEWEST: u32 = 2;

/// A run, and what people call it.
#[derive(Clone, Debug)]
pub struct Given {
    /// A file's name without its ending, or a run's number.
    pub label: String,
    /// What the run found.
    pub report: Report,
}

impl Given {
    /// When it was measured, such as `2026-11-22 13:26`; empty where the run does not say.
    pub fn time(&self) -> String {
        match self.report.provenance.unix_time {
            0 => String::new(),
            seconds => {
                let time = UNIX_EPOCH + Duration::from_secs(seconds);
                let text = humantime::format_rfc3339_seconds(time).to_string();
                text[..16].replace('T', " ")
            }
        }
    }
}

/// Reads a file that `--json` wrote.
///
/// # Errors
/// When it cannot be read, is no report, or is one of a newer laboratory.
pub fn read(file: &Path) -> Result<Given, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let report = parse(&text).map_err(|why| format!("{}: {why}", file.display()))?;
    Ok(Given { label: file.file_stem().unwrap_or_default().to_string_lossy().into_owned(), report })
}

fn parse(text: &str) -> Result<Report, String> {
    #[derive(Deserialize)]
    struct Head {
        schema: u32,
    }
    let no_report = |e| format!("this is no report that --json wrote ({e})");
    let Head { schema } = serde_json::from_str(text).map_err(no_report)?;
    if schema > NEWEST {
        return Err(format!(
            "schema {schema} is newer than this command, which reads up to {NEWEST}: take a newer one"
        ));
    }
    serde_json::from_str(text).map_err(no_report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_report_is_refused_with_a_reason() {
        assert!(parse("[1, 2]").unwrap_err().contains("no report"));
        assert!(parse("{\"schema\": 2}").unwrap_err().contains("missing field"));
        assert!(parse("{\"schema\": 9}").unwrap_err().contains("newer than this command"));
        assert!(read(Path::new("/no/such.json")).unwrap_err().starts_with("/no/such.json: "));
    }
}
