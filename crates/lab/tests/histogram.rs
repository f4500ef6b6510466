//! The histogram of the workload `latency`, compared with sorted times.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Reads times and prints what half, 1 % and none of them exceed.
const PROGRAM: &str = r#"
#include "histogram.h"
#include <stdio.h>

static struct histogram h;

int main(void) {
    unsigned long long ns;
    while (scanf("%llu", &ns) == 1) count_time(&h, ns);
    printf("%llu %llu %llu\n", (unsigned long long)quantile(&h, 500000),
           (unsigned long long)quantile(&h, 10000), (unsigned long long)quantile(&h, 0));
}
"#;

fn quantiles(program: &Path, times: &[u64]) -> Vec<u64> {
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let text: String = times.iter().map(|t| format!("{t}\n")).collect();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    words.split_whitespace().map(|w| w.parse().unwrap()).collect()
}

#[test]
fn quantiles_are_exact_below_256_ns_and_within_one_percent_above() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (source, program) = (folder.join("histogram.c"), folder.join("histogram"));
    std::fs::write(&source, PROGRAM).unwrap();
    let workload = concat!(env!("CARGO_MANIFEST_DIR"), "/workload");
    let status = Command::new("cc")
        .args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I", workload, "-o"])
        .args([&program, &source])
        .status();
    assert!(status.is_ok_and(|s| s.success()), "a C compiler is needed for this test");

    assert_eq!(quantiles(&program, &[]), [0, 0, 0]);
    assert_eq!(quantiles(&program, &[7]), [7, 7, 7]);
    assert_eq!(quantiles(&program, &(1..=200).collect::<Vec<_>>()), [100, 198, 200]);
    // From 1 ns to days, each time 1.1 times the one before; the smallest and the largest of all.
    let mut times: Vec<u64> = (0..365).map(|i| 1.1f64.powi(i) as u64).collect();
    times.extend([0, u64::MAX]);
    times.sort_unstable();
    let found = quantiles(&program, &times);
    let n = times.len();
    for (found, exact) in
        found.iter().zip([times[n - 1 - n / 2], times[n - 1 - n / 100], times[n - 1]])
    {
        let off = found.abs_diff(exact) as f64 / exact as f64;
        assert!(off < 0.01, "{found} for {exact}");
    }
}
