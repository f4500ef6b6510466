//! What is measured.

use std::ffi::OsString;
use std::path::PathBuf;

/// What is measured and compared: an allocator, a setting, a build, a commit, or a combination.
///
/// A workload says what is done; an arm says with what. The workload decides what the arm
/// leaves open.
///
/// ```
/// use allod_lab::model::Arm;
/// let eager = Arm {
///     environment: vec![("ALLOD_PURGE_DELAY_MS".into(), "0".into())],
///     ..Arm::new("eager")
/// };
/// assert_eq!((eager.name.as_str(), eager.preload), ("eager", None));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Arm {
    /// The name in tables and files.
    pub name: String,
    /// What it is and where it came from, for people.
    pub origin: String,
    /// The executable, instead of the workload's.
    pub program: Option<PathBuf>,
    /// Arguments, after the workload's.
    pub arguments: Vec<OsString>,
    /// Variables, beside the few that are passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// The library to preload; none for the program's own malloc.
    pub preload: Option<PathBuf>,
    /// The folder to start in.
    pub folder: Option<PathBuf>,
    /// The commit it was built from.
    pub commit: Option<String>,
}

impl Arm {
    /// An arm that changes nothing.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}
