//! One row of a suite, for arms that are programs.

use super::asked::{Asked, NO_SUBJECT, VARIABLE};
use crate::process::{End, Launch};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a program may take to say that it has no such row.
const ANSWER: Duration = Duration::from_secs(20);

/// One row of a suite. Each arm runs it in its own program, or in this one if it has none, so builds of
/// several commits can be compared.
///
/// ```standalone_crate
/// let mut bench = allod_lab::inprocess::Bench::new("sums");
/// bench.add("sum", "loop", 1000, || (0..1000).sum());
/// bench.add("sum", "formula", 1000, || 1000 * 999 / 2);
/// let row = bench.row("sums/sum", "sum", Some("formula"))?;
/// assert_eq!((row.name.as_str(), row.subject.as_deref()), ("sums/sum", Some("formula")));
/// assert!(bench.row("sums/sum", "sun", None).is_err());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name in reports.
    pub name: String,
    /// The subject; if none, each arm's name is its subject.
    pub subject: Option<String>,
    /// Threads that it uses.
    pub threads: usize,
    pub(super) suite: String,
    pub(super) workload: String,
    /// This program, and how it reaches the suite.
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<OsString>,
    pub(super) sample: Duration,
}

impl Row {
    /// The arguments with which a program reaches the suite.
    pub fn started_with(self, arguments: &[&str]) -> Self {
        Self { arguments: arguments.iter().map(OsString::from).collect(), ..self }
    }

    /// Checks that a program can measure a single row. One that cannot would begin to measure everything.
    ///
    /// # Errors
    /// When it does something else, or cannot be started.
    pub fn is_known_to(&self, program: &Path) -> Result<(), String> {
        let nothing = Asked {
            suite: self.suite.clone(),
            workload: String::new(),
            subject: String::new(),
            calls: None,
            sample: self.sample,
            counting: false,
        };
        let environment = [(VARIABLE.into(), nothing.to_text().into())];
        let launch = Launch {
            environment: &environment,
            limit: Some(ANSWER),
            ..Launch::new(program, &self.arguments)
        };
        let used = launch.run()?;
        match used.end {
            End::Exit(1) if used.stderr.contains(NO_SUBJECT) => Ok(()),
            End::Stopped => Err("stopped".into()),
            _ => Err(format!(
                "{} cannot measure a single row of {}: it is too old, or has no such suite",
                program.display(),
                self.suite
            )),
        }
    }
}
