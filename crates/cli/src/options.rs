//! The options of every command that measures.

use crate::failure::Failure;
use crate::keep::Keep;
use allod_lab::Shard;
use allod_lab::driver::{Rule, Terms, fresh_seed};
use allod_lab::stats::FEWEST;
use allod_lab::subject::{Candidate, parse_peer};
use allod_lab::table::counted;
use std::path::PathBuf;
use std::time::Duration;

const AGAINST: &str = "\
Fail if something became worse since an earlier run: a run's number in the store, a branch (the newest \
run at its commit), or a report written by --json. Exit code 1: worse by more than --threshold; 3: \
undecided [default: no gate]";

/// What to measure, how long, against what, and where the results go.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds to measure, after a warm-up; each measures everything once [default: 10, or 6 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: Option<u32>,
    /// Measure until every ratio is known to ± this, in percent [default: --runs rounds]
    #[arg(long, value_name = "PERCENT", value_parser = above_0, conflicts_with = "runs")]
    pub precision: Option<f64>,
    /// The most rounds that --precision may take [default: 100]
    #[arg(long, value_name = "N", requires = "precision")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub max_runs: Option<u32>,
    /// Stop after this time with the results so far: 90s, 5m, 1h [default: no limit]
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub max_time: Option<Duration>,
    /// Count instructions with callgrind instead of time: exact on any machine, but slow
    #[arg(long, conflicts_with_all = ["runs", "precision", "max_time"])]
    pub instructions: bool,
    /// Only these workloads, or only these subjects and the baseline, or both [default: all]
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', alias = "subjects")]
    #[arg(value_parser = name)]
    pub only: Vec<String>,
    /// List what can be measured
    #[arg(long)]
    pub list: bool,
    /// The subject the others are compared with [default: system; in `bench` mimalloc for the heap, typed
    /// for regions, bumpalo for frames, chez for Scheme]
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub baseline: Option<String>,
    /// The smallest difference that matters for a verdict, in percent
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = percent)]
    pub threshold: f64,
    /// Another allocator: a library that serves malloc when preloaded (repeatable) [default: those that
    /// --list shows]
    #[arg(long = "peer", value_name = "NAME=PATH", value_parser = parse_peer)]
    pub peers: Vec<Candidate>,
    /// Write the results and every single observation to a file as JSON [default: not written]
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Write a page with charts of the results [default: not written]
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    #[command(flatten)]
    pub keep: Keep,
    /// Measure only this share of the workloads, such as 2/5; `allod history merge` joins the shares
    /// [default: all of them]
    #[arg(long, value_name = "NUMBER/SHARES")]
    pub shard: Option<Shard>,
    /// Fail if something became worse since a run, the newest run at a branch's commit, or a report
    /// [default: no gate]
    #[arg(long, value_name = "RUN|BRANCH|FILE.json", long_help = AGAINST)]
    pub against: Option<String>,
    /// Less work and fewer rounds, for a first look
    #[arg(long)]
    pub quick: bool,
    /// Use the same random order as the run that printed this number [default: random]
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
}

impl Options {
    /// The terms of the measurement, with `rounds` as the default number of rounds.
    pub fn terms(&self, rounds: usize) -> Terms {
        Terms {
            rule: self.rule(rounds),
            seed: self.seed.unwrap_or_else(fresh_seed),
            threshold: self.threshold,
            counting: self.instructions,
        }
    }

    /// When to stop measuring; with `--quick`, after the fewest rounds that can decide.
    fn rule(&self, rounds: usize) -> Rule {
        let default = if self.quick { FEWEST } else { rounds };
        let rule = match self.precision {
            Some(precision) => Rule::until(precision, self.max_runs.unwrap_or(100) as usize),
            None => Rule::rounds(self.runs.map_or(default, |n| n as usize)),
        };
        Rule { max_time: self.max_time, ..rule }
    }

    /// The workloads to measure: all of these, or a share.
    pub fn share<T: Clone>(&self, workloads: &[T]) -> Result<Vec<T>, Failure> {
        let Some(shard) = self.shard else { return Ok(workloads.to_vec()) };
        let share = shard.of(workloads);
        match share.is_empty() {
            false => Ok(share),
            true => Err(Failure::usage(format!(
                "--shard {shard}: there is nothing to measure, since workloads are not split: \
                 {} among {}",
                counted(workloads.len(), "workload"),
                counted(shard.shares as usize, "share")
            ))),
        }
    }

    /// Refuses `--instructions` in commands that cannot count.
    pub fn without_instructions(&self) -> Result<(), Failure> {
        match self.instructions {
            false => Ok(()),
            true => Err(Failure::usage(
                "--instructions works with `allod compare`, `bench`, `ab` and `matrix`".into(),
            )),
        }
    }

    /// Refuses `--peer` where subjects are not preloaded libraries.
    pub fn without_peers(&self) -> Result<(), Failure> {
        match self.peers.first() {
            None => Ok(()),
            Some(peer) => Err(Failure::usage(format!(
                "--peer {}: the subjects of this suite are linked into the command; `allod compare` and `allod bench heap` measure preloaded libraries",
                peer.name
            ))),
        }
    }
}

/// A name in a list that people may have written with spaces.
fn name(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("a name is missing".into()),
        name => Ok(name.into()),
    }
}

/// A percentage as a fraction.
fn percent(text: &str) -> Result<f64, String> {
    match text.strip_suffix('%').unwrap_or(text).trim_end().parse::<f64>() {
        Ok(p) if (0.0..100.0).contains(&p) => Ok(p / 100.0),
        _ => Err("expected a number from 0 to 100, such as 1 for ±1 %".into()),
    }
}

fn above_0(text: &str) -> Result<f64, String> {
    percent(text).and_then(|p| match p {
        0.0 => Err("expected a number above 0: no measurement is exact".into()),
        p => Ok(p),
    })
}

/// A time: seconds, or a number with `s`, `m` or `h`.
pub fn time(text: &str) -> Result<Duration, String> {
    let (number, unit) = match text.strip_suffix(['s', 'm', 'h']) {
        Some(number) if text.ends_with('m') => (number, 60.0),
        Some(number) if text.ends_with('h') => (number, 3600.0),
        Some(number) => (number, 1.0),
        None => (text, 1.0),
    };
    match number.parse::<f64>() {
        Ok(n) if n > 0.0 && n * unit < 1e9 => Ok(Duration::from_secs_f64(n * unit)),
        _ => Err("expected a time, such as 90s, 5m or 1h".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_and_times_are_read_as_people_write_them() {
        assert_eq!(percent("0.5%"), Ok(0.005));
        assert_eq!(percent("2 %"), Ok(0.02));
        assert!(percent("100").is_err() && percent("-1").is_err() && percent("nan").is_err());
        assert!(above_0("0").is_err());
        for (text, seconds) in [("90", 90.0), ("90s", 90.0), ("1.5m", 90.0), ("2h", 7200.0)] {
            assert_eq!(time(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for wrong in ["", "m", "0", "-3s", "5d", "inf"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
