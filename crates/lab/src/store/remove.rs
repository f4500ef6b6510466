//! Taking a run out.

use super::{RunId, Store};

impl Store {
    /// Removes a run with all that belongs to it, and gives the room back to the disk where that can be done
    /// (it takes as much room for a moment); if not, the next runs use it.
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
