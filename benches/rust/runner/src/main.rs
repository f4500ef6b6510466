//! Builds the Rust programs once for each global allocator, runs them interleaved, and prints how
//! many times faster than the mimalloc crate each is. `benches/rust/run [ROUNDS]` starts it.

use allod_lab::schedule::interleaved;
use allod_lab::stats::{compare, geometric, median, paired};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const SUBJECTS: [&str; 3] = ["allod", "system", "mimalloc"];
const BASELINE: usize = 2;
const PROGRAMS: [&str; 4] = ["json", "json-threads", "format", "maps"];

fn main() -> Result<(), Box<dyn Error>> {
    let rounds: usize = std::env::args().nth(1).map_or(Ok(9), |n| n.parse())?;
    let subjects: Vec<PathBuf> = SUBJECTS.into_iter().map(build).collect::<Result<_, _>>()?;
    println!("| program | allod | 95 % | system | 95 % | mimalloc crate |");
    println!("| --- | ---: | --- | ---: | --- | ---: |");
    let mut all: [Vec<Vec<f64>>; 3] = Default::default();
    for program in PROGRAMS {
        let times = measure(program, &subjects, rounds)?;
        let base = &times[BASELINE];
        let ratio = |i: usize| compare(base, &times[i], 0.01);
        let (a, s) = (ratio(0), ratio(1));
        println!(
            "| {program} | {:.2} | {:.2}–{:.2} | {:.2} | {:.2}–{:.2} | 1 ({:.0} ms) |",
            a.ratio, a.ci95[0], a.ci95[1], s.ratio, s.ci95[0], s.ci95[1],
            median(base) / 1e6,
        );
        for (i, times) in times.iter().enumerate() {
            all[i].push(paired(base, times));
        }
    }
    let [a, s] = [0, 1].map(|i| geometric(&all[i], 0.01));
    println!(
        "| geometric mean | {:.2} | {:.2}–{:.2} | {:.2} | {:.2}–{:.2} | 1 |",
        a.ratio, a.ci95[0], a.ci95[1], s.ratio, s.ci95[0], s.ci95[1],
    );
    Ok(())
}

/// Builds the programs on an allocator and keeps the executable under its name.
fn build(subject: &str) -> Result<PathBuf, Box<dyn Error>> {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--release", "--package", "rust-programs"]).current_dir(FOLDER);
    if subject != "system" {
        cargo.args(["--features", subject]);
    }
    if !cargo.status()?.success() {
        return Err(format!("the programs do not build on {subject}").into());
    }
    let release = Path::new(FOLDER).join("target/release");
    let kept = release.join(format!("rust-programs-{subject}"));
    std::fs::copy(release.join("rust-programs"), &kept)?;
    Ok(kept)
}

/// Times of a program in nanoseconds, by subject and round; a first round does not count.
fn measure(program: &str, subjects: &[PathBuf], rounds: usize) -> Result<[Vec<f64>; 3], Box<dyn Error>> {
    let mut times: [Vec<f64>; 3] = Default::default();
    let mut expected = None;
    for path in subjects {
        let (_, sum) = once(path, program)?;
        if *expected.get_or_insert(sum) != sum {
            return Err(format!("{program}: the allocators do not compute the same").into());
        }
    }
    for turn in interleaved(rounds, subjects.len(), 1) {
        times[turn.subject].push(once(&subjects[turn.subject], program)?.0);
    }
    Ok(times)
}

fn once(path: &Path, program: &str) -> Result<(f64, u64), Box<dyn Error>> {
    let out = Command::new(path).arg(program).output()?;
    let text = String::from_utf8(out.stdout)?;
    let mut words = text.split_whitespace();
    match (out.status.success(), words.next(), words.next()) {
        (true, Some(time), Some(sum)) => Ok((time.parse()?, sum.parse()?)),
        _ => Err(format!("{} {program} failed", path.display()).into()),
    }
}
