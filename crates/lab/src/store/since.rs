//! Points in time as people write them.

use rusqlite::Connection;

/// Seconds since 1970 of a day or a minute (`2026-11-22`, `2026-11-22 14:30`, in UTC), or of a time ago
/// (`90m`, `12h`, `7d`, `2w`).
///
/// ```
/// use allod_lab::store::since;
/// assert_eq!(since("1970-01-02")?, 86_400);
/// assert_eq!(since("2001-09-09 01:46")?, 999_999_960);
/// assert!(since("2w")? < since("12h")?);
/// assert!(since("yesterday").unwrap_err().contains("2026-11-22 or 7d"));
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// When it is neither.
pub fn since(text: &str) -> Result<u64, String> {
    let unit = match text.chars().last() {
        Some('m') => 60,
        Some('h') => 3600,
        Some('d') => 86_400,
        Some('w') => 7 * 86_400,
        _ => 0,
    };
    // SQLite knows the calendar.
    let ago =
        text.get(..text.len().saturating_sub(1)).and_then(|number| number.parse::<u32>().ok());
    let (moment, change) = match ago.filter(|_| unit > 0) {
        Some(number) => ("now", format!("-{} seconds", u64::from(number) * unit)),
        None if text.as_bytes().get(4) == Some(&b'-') => (text, "+0 seconds".into()),
        None => return Err(wanted()),
    };
    let clock = Connection::open_in_memory().map_err(|e| e.to_string())?;
    let found: rusqlite::Result<Option<i64>> =
        clock.query_row("SELECT unixepoch(?, ?)", [moment, &change], |row| row.get(0));
    match found {
        Ok(Some(seconds)) => Ok(seconds.max(0) as u64),
        _ => Err(wanted()),
    }
}

fn wanted() -> String {
    "expected a day or a length of time, such as 2026-11-22 or 7d".into()
}
