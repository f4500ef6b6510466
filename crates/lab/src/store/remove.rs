//! Removing a run.

use super::{RunId, Store};

impl Store {
    /// Removes a run with everything that belongs to it, and shrinks the file if possible (which needs as
    /// much space for a moment); otherwise, the next runs use the space.
    ///
    /// # Errors
    /// When there is no such run, or the file cannot be written.
    pub fn remove(&mut self, run: RunId) -> Result<(), String> {
        match self.sql(|c| c.execute("DELETE FROM run WHERE id = ?", [run.0]))? {
            0 => Err(self.no_such_run(run)?),
            _ => {
                let _ = self.connection.execute_batch("VACUUM");
                Ok(())
            }
        }
    }
}
