//! The versions of the schema, and how one becomes the next.

use rusqlite::{Connection, Transaction, TransactionBehavior};

/// What is done to a file of version n, the n-th, to make it one of version n + 1. A step that has been
/// released does not change any more.
const STEPS: [&str; 2] = [include_str!("schema.sql"), include_str!("schema_2.sql")];

/// The version that this code reads and writes.
pub(super) const VERSION: usize = STEPS.len();

/// Marks the file as a store: `ALOD`.
const APPLICATION: i32 = 0x414C_4F44;

/// Why a file cannot be used.
#[derive(Debug)]
pub(super) enum Fault {
    /// A newer version made it.
    Newer { found: usize, known: usize },
    /// It is a database, but no store.
    Foreign,
    /// SQLite says so.
    Sql(rusqlite::Error),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

/// Whether the file has today's schema.
pub(super) fn is_current(connection: &Connection) -> Result<bool, Fault> {
    Ok(version(connection)? == VERSION)
}

/// Brings the file up to today's schema, whatever it is now. Of several processes that come at once,
/// one does it and the others wait.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), Fault> {
    if is_current(connection)? {
        return Ok(());
    }
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    migrate(&change, VERSION)?;
    Ok(change.commit()?)
}

/// Takes the steps up to a version that are not taken yet.
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

    /// A file as an older version of the laboratory left it.
    pub(in crate::store) fn make_old(connection: &mut Connection, version: usize) {
        let change = connection.transaction().unwrap();
        migrate(&change, version).unwrap();
        change.commit().unwrap();
    }

    /// A file as a newer version of the laboratory might leave it.
    pub(in crate::store) fn make_newer(connection: &Connection) {
        connection.pragma_update(None, "user_version", VERSION as i64 + 1).unwrap();
    }
}
