//! How a process ended and what it used, as the launcher reports it.

use crate::fields::field;
use std::time::Duration;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It ended by itself with this code.
    Exit(i32),
    /// A signal killed it.
    Signal(i32),
    /// It exceeded its time limit.
    TimedOut,
    /// The measurement was stopped while it ran.
    Stopped,
    /// The system could not start it; the number is its `errno`.
    NotStarted(i32),
}

impl End {
    /// The end in words.
    pub fn words(self) -> String {
        match self {
            Self::Exit(code) => format!("ended with exit code {code}"),
            Self::Signal(libc::SIGSEGV) => "crashed (segmentation fault)".into(),
            Self::Signal(libc::SIGABRT) => "aborted".into(),
            Self::Signal(n) => format!("was killed by signal {n}"),
            Self::TimedOut => "did not end in time".into(),
            Self::Stopped => "was stopped".into(),
            Self::NotStarted(errno) => {
                format!("could not be started: {}", std::io::Error::from_raw_os_error(errno))
            }
        }
    }
}

/// What a process used.
#[derive(Clone, Debug)]
pub struct Used {
    /// How it ended.
    pub end: End,
    /// From its start to its end.
    pub wall: Duration,
    /// Time in user mode, of the process and of the children it waited for.
    pub user: Duration,
    /// Time in the kernel, likewise.
    pub system: Duration,
    /// The largest resident set of the process or of any child it waited for.
    pub peak_rss_kib: u64,
    /// The resident set when the process ended; unknown if it may not be watched.
    pub final_rss_kib: Option<u64>,
    /// Page faults that needed no reading from a disk.
    pub minor_faults: u64,
    /// Page faults that did.
    pub major_faults: u64,
    /// Times it waited for something.
    pub voluntary_switches: u64,
    /// Times another took its processor.
    pub involuntary_switches: u64,
    /// What the calibration loop took before and after, in nanoseconds.
    pub loops_ns: [f64; 2],
    /// Hardware counters, where there are any.
    pub counters: Vec<(&'static str, u64)>,
    /// Why there are none, as an `errno`.
    pub counters_errno: Option<i32>,
    /// Instructions executed, where they were counted.
    pub executed: Option<u64>,
    /// Standard output, where it was captured.
    pub stdout: String,
    /// Standard error, where it was captured.
    pub stderr: String,
}

/// The hardware counters' names in the launcher's report.
pub const COUNTERS: [&str; 5] =
    ["instructions", "cycles", "branch_misses", "cache_misses", "dtlb_misses"];

impl Used {
    /// User and system time.
    pub fn cpu(&self) -> Duration {
        self.user + self.system
    }

    /// Reads the launcher's report; `None` if it is incomplete.
    pub(super) fn parse(report: &str) -> Option<Self> {
        let number = |name: &str| field(report, name).parse::<u64>().ok();
        let (end, code) = field(report, "end").split_once(' ')?;
        let code = code.parse().ok()?;
        let counter = |name: &'static str| Some((name, number(name)?));
        Some(Self {
            end: match end {
                "exit" => End::Exit(code),
                "signal" => End::Signal(code),
                "timeout" => End::TimedOut,
                "stopped" => End::Stopped,
                _ => End::NotStarted(code),
            },
            wall: Duration::from_nanos(number("wall_ns")?),
            user: Duration::from_micros(number("user_us")?),
            system: Duration::from_micros(number("system_us")?),
            peak_rss_kib: number("peak_kib")?,
            final_rss_kib: number("final_kib"),
            minor_faults: number("minor_faults")?,
            major_faults: number("major_faults")?,
            voluntary_switches: number("voluntary_switches")?,
            involuntary_switches: number("involuntary_switches")?,
            loops_ns: [number("loop_before_ns")? as f64, number("loop_after_ns")? as f64],
            counters: COUNTERS.into_iter().filter_map(counter).collect(),
            counters_errno: number("counters_errno").and_then(|n| n.try_into().ok()),
            executed: None,
            stdout: String::new(),
            stderr: String::new(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "end=signal 11\nwall_ns=2000\nuser_us=3\nsystem_us=4\npeak_kib=5\n\
        minor_faults=6\nmajor_faults=7\nvoluntary_switches=8\ninvoluntary_switches=9\n\
        loop_before_ns=10\nloop_after_ns=11\ncycles=12\n";

    #[test]
    fn a_report_is_read_and_what_it_lacks_is_not_made_up() {
        let used = Used::parse(REPORT).unwrap();
        assert_eq!((used.end, used.final_rss_kib), (End::Signal(11), None));
        assert_eq!((used.cpu(), used.loops_ns), (Duration::from_micros(7), [10.0, 11.0]));
        assert_eq!((&used.counters[..], used.counters_errno), (&[("cycles", 12)][..], None));
        let refused = REPORT.replace("cycles=12", "counters_errno=13");
        let used = Used::parse(&refused).unwrap();
        assert_eq!((used.counters.len(), used.counters_errno), (0, Some(13)));
    }

    #[test]
    fn half_a_report_is_none() {
        assert!(Used::parse(&REPORT[..40]).is_none());
        assert!(Used::parse("").is_none());
    }
}
