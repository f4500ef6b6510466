//! Why the command ends without success.

use allod_lab::program::CannotStart;

/// An exit code for scripts, and a message for people.
pub struct Failure {
    /// 2 for wrong usage, 1 for other failures, 126 and 127 for programs that do not start, 130 for
    /// Ctrl-C.
    pub exit_code: u8,
    /// What was wrong and what to do.
    pub message: String,
}

impl Failure {
    /// The user asked for something that does not exist.
    pub fn usage(message: String) -> Self {
        Self { exit_code: 2, message }
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self { exit_code: 1, message }
    }
}

impl From<CannotStart> for Failure {
    fn from(why: CannotStart) -> Self {
        Self { exit_code: why.exit_code, message: why.message }
    }
}
