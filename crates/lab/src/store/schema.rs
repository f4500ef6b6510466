//! The versions of the schema, and how one becomes the next.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// The n-th step upgrades a file from version n to n + 1. A released step never changes.
const STEPS: [&str; 3] =
    [include_str!("schema.sql"), include_str!("schema_2.sql"), include_str!("schema_3.sql")];

/// The version that this code reads and writes.
pub(super) const VERSION: usize = STEPS.len();

/// Marks the file as a store: `ALOD`.
const APPLICATION: i32 = 0x414C_4F44;

/// Why a file cannot be used.
#[derive(Debug)]
pub(super) enum Fault {
    /// A newer version made it.
    Newer { found: usize, known: usize },
    /// It is a database, but not a store.
    Foreign,
    /// SQLite says so.
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// Whether the file has the current schema.
pub(super) fn is_current(connection: &Connection) -> Result<bool, Fault> {
    Ok(version(connection)? == VERSION)
}

/// Upgrades the file to the current schema from any older one. If several processes do so at once,
/// one does it and the others wait.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), Fault> {
    if is_current(connection)? {
        return Ok(());
    }
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    migrate(&change, VERSION)?;
    Ok(change.commit()?)
}

/// Takes the missing steps up to a version.
fn migrate(change: &Transaction, to: usize) -> Result<(), Fault> {
    for step in &STEPS[version(change)?.min(to)..to] {
        change.execute_batch(step)?;
    }
    change.pragma_update(None, "application_id", APPLICATION)?;
    Ok(change.pragma_update(None, "user_version", to as i64)?)
}

/// The file's version; 0 for an empty one.
fn version(connection: &Connection) -> Result<usize, Fault> {
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, found) = (number("application_id")?, number("user_version")?);
    let tables = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0));
    let tables: i64 = tables?;
    if application != i64::from(APPLICATION) {
        return if tables == 0 && application == 0 { Ok(0) } else { Err(Fault::Foreign) };
    }
    match usize::try_from(found) {
        Ok(found) if found <= VERSION => Ok(found),
        _ => Err(Fault::Newer { found: found.max(0) as usize, known: VERSION }),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Turns a file into one of an older version: undoes steps, the last one first.
    pub(in crate::store) fn make_old(connection: &Connection, version: usize) {
        let undo = [
            "DROP VIEW observations; DROP INDEX part_of_run; DROP INDEX arm_of_part;
             DROP INDEX series_of_part; DROP INDEX observation_of_series; DROP INDEX failure_of_part;
             DROP INDEX result_of_part; DROP INDEX comparison_of_part; DROP INDEX shown_of_part",
            "ALTER TABLE part DROP COLUMN counters_errno",
        ];
        for step in undo[version - 1..].iter().rev() {
            connection.execute_batch(step).unwrap();
        }
        connection.pragma_update(None, "user_version", version as i64).unwrap();
    }

    /// A file as a newer version might write it.
    pub(in crate::store) fn make_newer(connection: &Connection) {
        connection.pragma_update(None, "user_version", VERSION as i64 + 1).unwrap();
    }
}
