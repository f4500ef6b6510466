//! The request to a child: the one case that it measures.
//!
//! The parent starts its own program again with a variable that names the case. When the child reaches
//! the suite, it measures that case, prints the result, and exits.

use std::time::Duration;

/// The variable that makes a process a child.
pub(super) const VARIABLE: &str = "LAB_CASE";

/// The output of a child that has no such case.
pub(super) const NO_SUBJECT: &str = "there is no subject";

/// One case to be measured: what the variable says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) suite: String,
    pub(super) workload: String,
    pub(super) subject: String,
    /// Calls per sample, if already known.
    pub(super) calls: Option<u32>,
    pub(super) sample: Duration,
    /// Whether instructions are counted.
    pub(super) counting: bool,
}

impl Asked {
    pub(super) fn to_text(&self) -> String {
        let Self { suite, workload, subject, calls, sample, counting } = self;
        let calls = calls.map_or_else(String::new, |n| n.to_string());
        let ns = sample.as_nanos();
        format!("{suite}\n{workload}\n{subject}\n{calls}\n{ns}\n{counting}")
    }

    fn from_text(text: &str) -> Option<Self> {
        let parts: Vec<&str> = text.split('\n').collect();
        let [suite, workload, subject, calls, sample, counting] = parts[..] else { return None };
        Some(Self {
            suite: suite.into(),
            workload: workload.into(),
            subject: subject.into(),
            calls: calls.parse().ok(),
            sample: Duration::from_nanos(sample.parse().ok()?),
            counting: counting.parse().ok()?,
        })
    }
}

/// The case that this process was started to measure; `None` if it is not a child.
pub(super) fn asked() -> Option<Asked> {
    Asked::from_text(&std::env::var(VARIABLE).ok()?)
}

/// Empty parts, to measure what beginning and ending one adds to a count.
pub(super) const EMPTY_PARTS: u32 = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_arrives() {
        for calls in [None, Some(17)] {
            let asked = Asked {
                suite: "frame".into(),
                workload: "single 64".into(),
                subject: "a=b".into(),
                calls,
                sample: Duration::from_micros(1500),
                counting: calls.is_some(),
            };
            assert_eq!(Asked::from_text(&asked.to_text()), Some(asked));
        }
        assert_eq!(Asked::from_text("frame"), None);
    }
}
