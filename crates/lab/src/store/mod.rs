//! The store: one SQLite file with every run, down to each observation.
//!
//! ```
//! use allod_lab::driver::{Rule, Seen};
//! use allod_lab::model::Report;
//! use allod_lab::store::{Filter, Store};
//!
//! # let folder = std::env::temp_dir().join(format!("allod-store-example-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder).unwrap();
//! # let file = folder.join("runs.sqlite");
//! let mut store = Store::open(&file)?;
//! let report = Report::of(Seen::default(), 7);
//! let run = store.save(&report)?;
//! assert_eq!(store.load(run)?, report);
//! assert_eq!(store.list(&Filter::default())?[0].run, run);
//! store.remove(run)?;
//! assert!(store.load(run).is_err());
//! # std::fs::remove_dir_all(&folder).unwrap();
//! # Ok::<(), String>(())
//! ```
//!
//! A **run** has one **part** for each command that measured it: one, or as many as there are shards.
//! Everything else belongs to a part. `docs/store.md` has the whole schema.
//!
//! The file is written in one transaction per run, with SQLite's rollback journal rather than a
//! write-ahead log: it is a single file at any time, which can be copied and cached, also on a network
//! file system; writes are rare and short, and a second writer waits for the first.

mod list;
mod load;
mod merge;
mod place;
mod remove;
mod save;
mod schema;
mod since;
#[cfg(test)]
pub(crate) mod tests;

pub use list::{Entry, Filter};
pub use merge::Merged;
pub use place::Place;
pub use since::since;

use rusqlite::{Connection, ErrorCode, OpenFlags};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(30);

/// The number of a run in its store. A number is not reused after its run was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct RunId(pub i64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// An open store.
#[derive(Debug)]
pub struct Store {
    connection: Connection,
    file: PathBuf,
}

impl Store {
    /// Opens a store to write to; creates it and its folder if necessary.
    ///
    /// # Errors
    /// When the file cannot be written, is not a store, or has a newer version.
    pub fn open(file: &Path) -> Result<Self, String> {
        if let Some(folder) = file.parent().filter(|f| !f.as_os_str().is_empty()) {
            let made = std::fs::create_dir_all(folder);
            made.map_err(|e| format!("cannot make the folder {}: {e}", folder.display()))?;
        }
        let mut store =
            Self::connect(file, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
        schema::prepare(&mut store.connection).map_err(|e| store.words(e))?;
        store.try_to_write()?;
        Ok(store)
    }

    /// Opens an existing store to read from.
    ///
    /// # Errors
    /// When there is no such file, or it is not a store, or has a newer version.
    pub fn open_to_read(file: &Path) -> Result<Self, String> {
        if !file.exists() {
            return Err(format!("there is no store {}", file.display()));
        }
        let store = Self::connect(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        match schema::is_current(&store.connection).map_err(|e| store.words(e))? {
            true => Ok(store),
            // An older one must be upgraded first.
            false => Self::open(file),
        }
    }

    fn connect(file: &Path, flags: OpenFlags) -> Result<Self, String> {
        let flags = flags | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(file, flags);
        let connection = connection.map_err(|e| words(file, schema::Fault::Sql(e)))?;
        let store = Self { connection, file: file.into() };
        store.sql(|c| {
            c.busy_timeout(PATIENCE)?;
            c.pragma_update(None, "foreign_keys", true)
        })?;
        Ok(store)
    }

    /// Whether a run could probably be written now.
    fn try_to_write(&mut self) -> Result<(), String> {
        let tried = self
            .connection
            .execute_batch("BEGIN IMMEDIATE; INSERT INTO run DEFAULT VALUES; ROLLBACK;");
        tried.map_err(|e| {
            // The transaction may still be open.
            let _ = self.connection.execute_batch("ROLLBACK");
            self.words(schema::Fault::Sql(e))
        })
    }

    /// The file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    fn sql<T>(&self, work: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, String> {
        work(&self.connection).map_err(|e| self.words(schema::Fault::Sql(e)))
    }

    fn words(&self, fault: impl Into<schema::Fault>) -> String {
        words(&self.file, fault.into())
    }
}

/// The message about an error of a store's file.
fn words(file: &Path, fault: schema::Fault) -> String {
    let file = file.display();
    let error = match fault {
        schema::Fault::Newer { found, known } => {
            return format!(
                "{file} is a store with schema {found}; this version of allod knows {known} and older: use a \
                 newer allod, or another file with --store"
            );
        }
        schema::Fault::Foreign => {
            return format!("{file} is another program's database, not a store");
        }
        schema::Fault::Sql(error) => error,
    };
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            format!("{file} is not a store, or is damaged: {error}")
        }
        Some(ErrorCode::ReadOnly) => format!("the store {file} cannot be written: it is read-only"),
        Some(ErrorCode::DiskFull) => {
            format!("the store {file} cannot be written: the disk is full")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => format!(
            "the store {file} has been in use by another process for {} seconds",
            PATIENCE.as_secs()
        ),
        _ => format!("the store {file}: {error}"),
    }
}
