//! Rows of the suites by name, for programs that have them.

use crate::{frame, region};
use allod_lab::inprocess::{Bench, Row};
use allod_lab::names;

/// Whether a name is one of a row.
#[must_use]
pub fn is_row(name: &str) -> bool {
    name.contains('/')
}

/// Rows by their names: `frame/single-64`, or `region/typed-int/mk` for another subject than Allod's own.
///
/// # Errors
/// Names the suite, row or subject that is unknown, and the nearest one.
///
/// ```
/// let rows = allod_suites::rows(&["frame/single-64".into()], true)?;
/// assert_eq!(rows[0].subject.as_deref(), Some("allod"));
/// # Ok::<(), String>(())
/// ```
pub fn rows(names: &[String], quick: bool) -> Result<Vec<Row>, String> {
    let suites = [frame::SUITE, region::SUITE];
    let known = |name: &String| suites.contains(&suite_of(name));
    if let Some(wrong) = names.iter().find(|name| !known(name)) {
        return Err(names::unknown("suite of rows", suite_of(wrong), &suites));
    }
    let (mut frames, mut regions) = (None, None);
    let row = |name: &String| match suite_of(name) {
        frame::SUITE => row(frames.get_or_insert_with(|| frame::bench(quick)), name, quick),
        _ => row(regions.get_or_insert_with(|| region::bench(quick)), name, quick),
    };
    names.iter().map(row).collect()
}

fn suite_of(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

fn row(suite: &Bench<'static>, name: &str, quick: bool) -> Result<Row, String> {
    let mut words = name.splitn(3, '/').skip(1);
    let (workload, subject) = (words.next().unwrap_or_default(), words.next());
    let there = suite.subjects_of(workload);
    let own = there.iter().find(|subject| ["allod", "typed"].contains(subject)).or(there.first());
    let row = suite.row(name, workload, subject.or(own.copied()))?;
    let again = ["bench", suite_of(name)].into_iter().chain(quick.then_some("--quick"));
    Ok(row.started_with(&again.collect::<Vec<_>>()))
}
