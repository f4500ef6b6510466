//! What a process used, as metrics.

use super::{End, Used};
use crate::model::{Metric, Outcome, metric};
use std::time::Duration;

impl Used {
    /// The outcome of any process. It has failed unless it ended with exit code 0.
    pub fn outcome(&self) -> Outcome {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let mut values = vec![
            (metric::WALL, ms(self.wall)),
            (metric::USER, ms(self.user)),
            (metric::SYSTEM, ms(self.system)),
            // A program can be too short for the clock; ratios need a number above 0.
            (metric::CPU, ms(self.cpu()).max(0.001)),
            (metric::PEAK, self.peak_rss_kib as f64),
            (metric::MINOR_FAULTS, self.minor_faults as f64),
            (metric::MAJOR_FAULTS, self.major_faults as f64),
            (metric::VOLUNTARY_SWITCHES, self.voluntary_switches as f64),
            (metric::INVOLUNTARY_SWITCHES, self.involuntary_switches as f64),
        ];
        values.extend(self.final_rss_kib.map(|kib| (metric::FINAL, kib as f64)));
        values.extend(self.executed.map(|n| (metric::EXECUTED, n as f64)));
        let counters = self.counters.iter();
        values.extend(counters.map(|&(name, n)| (Metric::new(name, "count"), n as f64)));
        Outcome {
            values,
            loops_ns: self.loops_ns.to_vec(),
            checksum: None,
            failure: (self.end != End::Exit(0)).then(|| self.end.words()),
            stopped: self.end == End::Stopped,
            counters_errno: self.counters_errno,
        }
    }
}
