//! The folder in which programs are compiled and run.

use std::fs;
use std::path::{Path, PathBuf};

/// A folder of this process's own, which is gone afterwards.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// An empty folder among the system's temporary files.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn new() -> Result<Self, String> {
        let folder =
            std::env::temp_dir().join(format!("allod-bench-scheme-{}", std::process::id()));
        make(&folder)?;
        Ok(Self(folder))
    }

    /// A folder in it, with these files.
    ///
    /// # Errors
    /// When something cannot be written.
    pub fn folder<'a>(
        &self,
        name: &str,
        files: impl IntoIterator<Item = &'a (&'a str, &'a str)>,
    ) -> Result<PathBuf, String> {
        let folder = self.0.join(name);
        make(&folder)?;
        for (name, text) in files {
            let file = folder.join(name);
            fs::write(&file, text).map_err(|e| format!("cannot write {}: {e}", file.display()))?;
        }
        Ok(folder)
    }
}

fn make(folder: &Path) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| format!("cannot make {}: {e}", folder.display()))
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_gone_with_the_folder() {
        let scratch = Scratch::new().unwrap();
        let folder = scratch.folder("a/b", &[("text", "words")]).unwrap();
        assert_eq!(fs::read_to_string(folder.join("text")).unwrap(), "words");
        drop(scratch);
        assert!(!folder.exists());
    }
}
