//! Where a user's files are.

use std::env::var_os;
use std::path::PathBuf;

/// The folder of Allod's files: `allod` in the folder that `XDG_DATA_HOME` names, or else in `~/.local/share`; `None`
/// where neither that variable nor `HOME` is set.
pub(crate) fn data() -> Option<PathBuf> {
    own(var_os("XDG_DATA_HOME").map(Into::into), var_os("HOME").map(Into::into))
}

fn own(data: Option<PathBuf>, home: Option<PathBuf>) -> Option<PathBuf> {
    // The XDG base directory specification says that relative paths are to be ignored.
    let data = data.filter(|folder| folder.is_absolute());
    let home = home.filter(|folder| folder.is_absolute());
    Some(data.or_else(|| Some(home?.join(".local/share")))?.join("allod"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_users_own_folder_is_where_xdg_says() {
        let own = |data: &str, home: &str| {
            let path = |text: &str| (!text.is_empty()).then(|| text.into());
            super::own(path(data), path(home)).map(|folder| folder.display().to_string())
        };
        assert_eq!(own("/data", "/home/a").unwrap(), "/data/allod");
        assert_eq!(own("", "/home/a").unwrap(), "/home/a/.local/share/allod");
        assert_eq!(own("data", "/home/a").unwrap(), "/home/a/.local/share/allod");
        assert_eq!(own("", ""), None);
        assert_eq!(own("", "a"), None);
    }
}
