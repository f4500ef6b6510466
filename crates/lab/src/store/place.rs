//! Where the store is.

use std::env::var_os;
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
                own(var_os("XDG_DATA_HOME").map(Into::into), var_os("HOME").map(Into::into))
                    .map(Some)
            }
            Self::None => Ok(None),
        }
    }
}

fn own(data: Option<PathBuf>, home: Option<PathBuf>) -> Result<PathBuf, String> {
    // The XDG base directory specification says that relative paths are to be ignored.
    let data = data.filter(|folder| folder.is_absolute());
    let home = home.filter(|folder| folder.is_absolute());
    let folder = data
        .or_else(|| Some(home?.join(".local/share")))
        .ok_or("neither XDG_DATA_HOME nor HOME is set; name a file with --store FILE")?;
    Ok(folder.join("allod/runs.sqlite"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_own_file_is_where_xdg_says() {
        let own = |data: &str, home: &str| {
            let path = |text: &str| (!text.is_empty()).then(|| PathBuf::from(text));
            own(path(data), path(home)).map(|file| file.display().to_string())
        };
        assert_eq!(own("/data", "/home/a"), Ok("/data/allod/runs.sqlite".into()));
        assert_eq!(own("", "/home/a"), Ok("/home/a/.local/share/allod/runs.sqlite".into()));
        assert_eq!(own("data", "/home/a"), Ok("/home/a/.local/share/allod/runs.sqlite".into()));
        assert!(own("", "").unwrap_err().contains("--store FILE"));
        assert!(own("", "a").is_err());
    }
}
