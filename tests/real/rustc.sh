#!/usr/bin/env bash
# rustc building a crate. Debian's rustc, because the Rust project's own brings jemalloc inside the
# program, where no preloaded library takes its place.
set -euo pipefail
. "$(dirname "$0")/../lib.sh"

[ -x /usr/bin/rustc ] || apt_install rustc
rustc=/usr/bin/rustc

cat >"$work/main.rs" <<'END'
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

trait Shape: Debug { fn area(&self) -> f64; }
#[derive(Debug, Clone, PartialEq, PartialOrd)] struct Circle(f64);
#[derive(Debug, Clone, PartialEq, PartialOrd)] struct Square(f64);
impl Shape for Circle { fn area(&self) -> f64 { 3.0 * self.0 * self.0 } }
impl Shape for Square { fn area(&self) -> f64 { self.0 * self.0 } }

macro_rules! table {
    ($($name:ident: $type:ty = $value:expr),* $(,)?) => {
        #[derive(Debug, Default, Clone)] struct Table { $($name: Option<$type>),* }
        fn table() -> Table { Table { $($name: Some($value)),* } }
    };
}
table! { a: u8 = 1, b: String = "two".into(), c: Vec<u32> = (0..5).collect(), d: (f32, char) = (4.0, '4') }

fn main() {
    let shapes: Vec<Box<dyn Shape>> = (0..1000)
        .map(|i| if i % 2 == 0 { Box::new(Circle(i as f64)) as Box<dyn Shape> } else { Box::new(Square(i as f64)) })
        .collect();
    let mut words: HashMap<String, Vec<usize>> = HashMap::new();
    for i in 0..20_000 { words.entry(format!("w{}", i * 7919 % 997)).or_default().push(i); }
    let sorted: BTreeMap<_, _> = words.iter().map(|(k, v)| (k.clone(), v.iter().sum::<usize>())).collect();
    let total: f64 = shapes.iter().map(|s| s.area()).sum();
    println!("{total} {:?} {:?}", sorted.iter().take(5).collect::<Vec<_>>(), table());
    let sums: Vec<u64> = (0..4u64)
        .map(|n| std::thread::spawn(move || (0..50_000).map(|i| format!("{}", i * n).len() as u64).sum()))
        .collect::<Vec<_>>().into_iter().map(|t| t.join().unwrap()).collect();
    println!("{sums:?}");
}
END

# The same crate compiled twice in the same place must give the same bytes.
build="cd '$work' && rm -f program && $rustc --edition 2021 -O -C debuginfo=1 main.rs -o program &&
    sha256sum program"

check "rustc finds malloc in Allod" uses_allod librustc_driver "$rustc" -vV
same_output "rustc builds the same program" sh -c "$build"
same_output "the built program prints the same" "$work/program"
