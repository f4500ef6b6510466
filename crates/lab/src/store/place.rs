//! Where the store is.

use crate::home;
use std::path::PathBuf;

/// Where runs are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In this file, as requested.
    File(PathBuf),
    /// In the user's own file.
    Own,
    /// Nowhere.
    None,
}

impl Place {
    /// Reads the value of `--store`: a file, or `none`.
    ///
    /// ```
    /// use allod_lab::store::Place;
    /// assert_eq!(Place::from_option("none".into()), Place::None);
    /// assert_eq!(Place::from_option("./none".into()), Place::File("./none".into()));
    /// ```
    pub fn from_option(text: PathBuf) -> Self {
        if text.as_os_str() == "none" { Self::None } else { Self::File(text) }
    }

    /// The file, if any: the user's own is `allod/runs.sqlite` in the folder that `XDG_DATA_HOME`
    /// names, or else in `~/.local/share`.
    ///
    /// # Errors
    /// When neither that variable nor `HOME` is set.
    pub fn file(&self) -> Result<Option<PathBuf>, String> {
        match self {
            Self::File(file) => Ok(Some(file.clone())),
            Self::Own => {
                let folder = home::data().ok_or(
                    "neither XDG_DATA_HOME nor HOME is set; name a file with --store FILE",
                )?;
                Ok(Some(folder.join("runs.sqlite")))
            }
            Self::None => Ok(None),
        }
    }
}
