//! The child's side of a measurement: it measures the requested case, prints the result, and exits.

use super::asked::{Asked, EMPTY_PARTS, NO_SUBJECT};
use super::case::{Case, Sample};
use super::timer::Timer;
use crate::heap::QUANTILES;

/// Measures the requested case and exits.
pub(super) fn serve(asked: &Asked, cases: &mut [Case]) -> ! {
    if asked.counting && asked.workload.is_empty() {
        let mut timer = Timer::counting();
        (0..EMPTY_PARTS).for_each(|_| timer.time(|| ()));
        std::process::exit(0);
    }
    let wanted = |c: &&mut Case| c.workload == asked.workload && c.subject == asked.subject;
    let Some(case) = cases.iter_mut().find(wanted) else {
        eprintln!("{NO_SUBJECT} {} of {}", asked.subject, asked.workload);
        std::process::exit(1);
    };
    if asked.counting {
        let counted = case.count();
        println!(
            "\nlab-operations={}\nlab-parts={}\nlab-checksum={}",
            counted.operations, counted.parts, counted.checksum
        );
        std::process::exit(0);
    }
    let sample = case.measure(asked.calls, asked.sample);
    let Sample { ns_per_operation, checksum, calls, quantiles } = sample;
    println!("\nlab-ns={ns_per_operation}\nlab-checksum={checksum}\nlab-calls={calls}");
    for (name, ns) in quantiles.iter().flat_map(|ns| QUANTILES.iter().zip(ns)) {
        println!("lab-{name}={ns}");
    }
    std::process::exit(0);
}
