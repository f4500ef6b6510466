//! Taking a run out.

use super::{RunId, Store};

impl Store {
    /// Removes a run with all that belongs to it, and gives the room back to the disk.
    ///
    /// # Errors
    /// When there is no such run, or the file cannot be written.
    pub fn remove(&mut self, run: RunId) -> Result<(), String> {
        match self.sql(|c| c.execute("DELETE FROM run WHERE id = ?", [run.0]))? {
            0 => Err(self.no_such_run(run)?),
            _ => self.sql(|c| c.execute_batch("VACUUM")),
        }
    }
}
