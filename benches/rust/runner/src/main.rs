//! Builds the Rust programs once for each global allocator, runs them interleaved, and prints how
//! many times faster and leaner than on the mimalloc crate each is. `benches/rust/run [ROUNDS]`
//! starts it.

use allod_lab::process::{End, Launch};
use allod_lab::driver::Order;
use allod_lab::stats::{Ratio, compare, geometric, log_ratios, median};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
/// The last one is what the others are compared with.
const SUBJECTS: [&str; 4] = ["allod", "system", "jemalloc", "mimalloc"];
const BASELINE: usize = SUBJECTS.len() - 1;
const PROGRAMS: [&str; 6] = ["json", "json-threads", "format", "maps", "cache", "search"];

/// One cost per round, by subject.
type Costs = [Vec<f64>; SUBJECTS.len()];

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let rounds: usize = arguments.next().map_or(Ok(9), |n| n.parse())?;
    let subjects: Vec<PathBuf> = SUBJECTS.into_iter().map(build).collect::<Result<_, _>>()?;
    let mut times = Vec::new();
    let mut peaks = Vec::new();
    for program in PROGRAMS {
        let (time, peak) = measure(program, &subjects, rounds)?;
        times.push(time);
        peaks.push(peak);
    }
    println!("Time: times faster than on the mimalloc crate.\n");
    print!("{}", table(&times, |ns| format!("{:.0} ms", ns / 1e6)));
    println!("\nPeak memory: times leaner than on the mimalloc crate.\n");
    print!("{}", table(&peaks, |kib| format!("{:.1} MiB", kib / 1024.0)));
    Ok(())
}

/// A line per program and one for the geometric mean; a ratio and its interval per subject.
fn table(costs: &[Costs], show: impl Fn(f64) -> String) -> String {
    let mut text = String::from("| program |");
    for subject in &SUBJECTS[..BASELINE] {
        text += &format!(" {subject} | 95 % |");
    }
    text += &format!(" mimalloc crate |\n| --- |{} ---: |\n", " ---: | --- |".repeat(BASELINE));
    for (program, costs) in PROGRAMS.iter().zip(costs) {
        let base = &costs[BASELINE];
        let ratios = costs[..BASELINE].iter().map(|c| compare(base, c, 0.01));
        text += &line(program, ratios, &format!("1 ({})", show(median(base))));
    }
    let means = (0..BASELINE).map(|subject| {
        let pairs = |costs: &Costs| log_ratios(&costs[BASELINE], &costs[subject]);
        geometric(&costs.iter().map(pairs).collect::<Vec<_>>(), 0.01)
    });
    text + &line("geometric mean", means, "1")
}

fn line(name: &str, ratios: impl Iterator<Item = Ratio>, base: &str) -> String {
    let cell = |r: Ratio| format!(" {:.2} | {:.2}–{:.2} |", r.ratio, r.ci95[0], r.ci95[1]);
    format!("| {name} |{} {base} |\n", ratios.map(cell).collect::<String>())
}

/// Builds the programs on an allocator and keeps the executable under its name.
fn build(subject: &str) -> Result<PathBuf, Box<dyn Error>> {
    let target = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| Path::new(FOLDER).join("target"), PathBuf::from);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--release", "--locked", "--package", "rust-programs"]);
    cargo.arg("--target-dir").arg(&target).current_dir(FOLDER);
    if subject != "system" {
        cargo.args(["--features", subject]);
    }
    if !cargo.status()?.success() {
        return Err(format!("the programs do not build on {subject}").into());
    }
    let release = target.join("release");
    let kept = release.join(format!("rust-programs-{subject}"));
    std::fs::copy(release.join("rust-programs"), &kept)?;
    Ok(kept)
}

/// Times in nanoseconds and peaks in KiB of a program; a first round does not count.
fn measure(
    program: &str,
    subjects: &[PathBuf],
    rounds: usize,
) -> Result<(Costs, Costs), Box<dyn Error>> {
    let mut times = Costs::default();
    let mut peaks = Costs::default();
    let mut expected = None;
    for path in subjects {
        let once = once(path, program)?;
        if *expected.get_or_insert(once.sum) != once.sum {
            return Err(format!("{program}: the allocators do not compute the same").into());
        }
    }
    let mut order = Order::new(1, subjects.len());
    for _ in 0..rounds {
        for &subject in order.draw() {
            let once = once(&subjects[subject], program)?;
            if Some(once.sum) != expected {
                return Err(format!("{program} does not always compute the same").into());
            }
            times[subject].push(once.ns);
            peaks[subject].push(once.peak_kib);
        }
    }
    Ok((times, peaks))
}

/// What one run of a program computed and took.
struct Once {
    ns: f64,
    sum: u64,
    peak_kib: f64,
}

/// Runs a program through the laboratory's launcher, so that the peak is the program's own.
fn once(path: &Path, program: &str) -> Result<Once, Box<dyn Error>> {
    let used = Launch {
        limit: Some(Duration::from_secs(120)),
        ..Launch::new(path, &[program.into()])
    }
    .run()?;
    let read = || {
        let (ns, sum) = used.stdout.trim().split_once(' ')?;
        Some(Once {
            ns: ns.parse().ok()?,
            sum: sum.parse().ok()?,
            peak_kib: used.peak_rss_kib as f64,
        })
    };
    if used.end != End::Exit(0) {
        let shown = path.display();
        return Err(format!("{shown} {program} {}: {}", used.end.words(), used.stderr).into());
    }
    read().ok_or_else(|| format!("{program} printed {:?}", used.stdout).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_ratios_against_the_last_subject_and_their_mean() {
        let costs =
            |other: f64| -> Costs { [vec![1e6; 3], vec![other; 3], vec![4e6; 3], vec![2e6; 3]] };
        let text = table(&[costs(4e6), costs(1e6)], |ns| format!("{:.0} ms", ns / 1e6));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[0],
            "| program | allod | 95 % | system | 95 % | jemalloc | 95 % | mimalloc crate |"
        );
        assert_eq!(
            lines[2],
            "| json | 2.00 | 2.00–2.00 | 0.50 | 0.50–0.50 | 0.50 | 0.50–0.50 | 1 (2 ms) |"
        );
        assert_eq!(
            lines[4],
            "| geometric mean | 2.00 | 2.00–2.00 | 1.00 | 1.00–1.00 | 0.50 | 0.50–0.50 | 1 |"
        );
    }
}
