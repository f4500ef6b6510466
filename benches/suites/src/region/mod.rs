//! The region suite: `allod bench region`.
//!
//! All subjects run interleaved, each sample in a process of its own. Every subject of a workload makes the same objects with
//! the same contents, stores their addresses in the same array, and its memory is read back after the
//! clock has stopped; the checksums must agree.
//!
//! | subject | what it is |
//! | --- | --- |
//! | `typed` | typed allocation, inlined: what a compiler emits |
//! | `mk` | constructor functions, called through pointers as those of a library are |
//! | `glibc`, `mimalloc`, `allod-heap` | malloc and free for each object |
//! | `bumpalo`, `bump-scope` and variants | bump allocators of the Rust world, as they come and as they are fastest |
//! | `boehm` | `GC_malloc` of the Boehm collector, where `libgc.so.1` is installed |
//! | `bump` | a bare bump loop with a limit check, its cursor in memory as in every arena |
//! | `bump-register` | the same with the cursor in a register, which a program with one arena in one loop might see |
//! | `memcpy` | copying the same bytes, into memory that was touched before |
//! | `std-hashmap`, `same-hash` | the standard library's map, with its hash function and with that of dictionaries |

mod batches;
mod dicts;
mod facts;
mod floats;
mod functional;
mod kinds;
mod latency;
mod life;
mod moves;
mod objects;
mod peers;
mod required;
mod small;
mod tables;
mod workloads;

pub use tables::tables;
pub use workloads::WORKLOADS;

use crate::{Request, versions};
use allod_lab::inprocess::Bench;
use allod_lab::model::{Report, Requirement, metric};

/// The suite's name in reports.
pub const SUITE: &str = "region";

/// The suite as it was asked for, to be run.
///
/// # Errors
/// Names an unknown workload or subject, and the nearest that exists.
pub fn prepare(request: &Request) -> Result<Bench<'static>, String> {
    request.apply(bench(request.quick))
}

/// The requirements on the suite, and their results.
#[must_use]
pub fn required(request: &Request, report: &Report) -> Vec<Requirement> {
    crate::required::judged(
        SUITE,
        &metric::TIME,
        required::required(),
        report,
        request.terms.threshold,
    )
}

/// The whole suite; `quick` leaves out what needs seconds a call.
pub(crate) fn bench(quick: bool) -> Bench<'static> {
    let mut bench = Bench::new(SUITE).origins(versions::of);
    objects::add(&mut bench, quick);
    moves::add(&mut bench, quick);
    life::add(&mut bench);
    small::add(&mut bench);
    functional::add(&mut bench);
    floats::add(&mut bench);
    batches::add(&mut bench);
    dicts::add(&mut bench);
    latency::add(&mut bench);
    bench
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subject_of_a_workload_does_the_same_work() {
        // What takes less than a second a call.
        let long = ["list-1e6", "list-1e7", "splice-1e7", "large-objects"];
        let names = bench(true).workloads();
        let chosen: Vec<String> =
            names.into_iter().filter(|w| !long.contains(&w.as_str())).collect();
        assert_eq!(bench(true).only(&chosen).unwrap().check(), [""; 0]);
    }

    #[test]
    fn every_workload_is_listed_with_what_it_does() {
        assert_eq!(bench(false).workloads(), WORKLOADS.map(|w| w.0));
        assert!(WORKLOADS.iter().all(|w| !w.1.is_empty()));
    }

    #[test]
    fn no_workload_is_called_like_a_subject() {
        let suite = bench(false);
        let subjects = suite.subjects();
        assert!(suite.workloads().iter().all(|w| !subjects.contains(w)));
    }
}
