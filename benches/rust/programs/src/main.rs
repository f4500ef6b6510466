//! Rust programs with heavy allocation. Called with a name, does the work and prints nanoseconds
//! and a checksum; `runner` builds it once for each allocator and compares.

mod cache;
mod search;

use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::Path;
use std::sync::mpsc;
use std::time::Instant;

#[cfg(feature = "allod")]
#[global_allocator]
static ALLOCATOR: allod::Allod = allod::Allod;

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    let (time, sum) = match name.as_str() {
        "json" => timed(document(8 << 20), |text| json(&text)),
        "json-threads" => timed(document(2 << 20), |text| json_threads(&text)),
        "format" => timed(sources(), |sources| format(&sources)),
        "maps" => timed((), |()| maps()),
        "cache" => timed((), |()| cache::run()),
        "search" => timed(search::Texts::new(), |texts| search::run(&texts)),
        _ => {
            eprintln!("rust-programs: name one of json, json-threads, format, maps, cache, search");
            std::process::exit(2);
        }
    };
    println!("{time} {sum}");
}

/// Runs `work` on prepared input; gives its time in nanoseconds and what it computed.
fn timed<I>(input: I, work: impl FnOnce(I) -> u64) -> (u128, u64) {
    let start = Instant::now();
    let sum = work(input);
    (start.elapsed().as_nanos(), sum)
}

/// A small random number generator, so that every run does the same work.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }
}

/// A JSON document of about `bytes` bytes: people with names, tags and nested addresses.
fn document(bytes: usize) -> String {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut text = String::from("[");
    while text.len() < bytes {
        let (id, age) = (random.below(1 << 30), random.below(100));
        let _ = write!(text, r#"{{"id":{id},"name":"person {id}","age":{age},"tags":["#);
        for _ in 0..random.below(6) {
            let _ = write!(text, r#""tag-{}","#, random.below(1000));
        }
        let street = "long ".repeat(random.below(12) as usize);
        let _ = write!(
            text,
            r#"null],"address":{{"street":"{street}street {}","at":[{}.5,{}.25],"home":true}}}},"#,
            random.below(500),
            random.below(90),
            random.below(180),
        );
    }
    text.pop();
    text.push(']');
    text
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("the document is JSON")
}

/// Parses a document into a tree, copies the tree, prints the copy.
fn json(text: &str) -> u64 {
    let tree = parse(text);
    let copy = tree.clone();
    drop(tree);
    serde_json::to_string(&copy).expect("a tree prints").len() as u64
}

/// One thread parses documents, another prints and drops them.
fn json_threads(text: &str) -> u64 {
    let (to, from) = mpsc::sync_channel::<Value>(2);
    std::thread::scope(|s| {
        let printer = s.spawn(move || {
            from.iter().map(|tree| serde_json::to_string(&tree).map_or(0, |t| t.len() as u64)).sum()
        });
        for _ in 0..5 {
            to.send(parse(text)).expect("the printer lives");
        }
        drop(to);
        printer.join().expect("the printer ends")
    })
}

/// Allod's own source files.
fn sources() -> Vec<String> {
    let crates = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../crates"));
    let mut files = Vec::new();
    for name in ["os", "heap", "lab", "cli"] {
        let folder = crates.join(name).join("src");
        let entries = std::fs::read_dir(folder).expect("the sources are there");
        files.extend(entries.map(|e| e.expect("readable").path()).filter(|p| p.is_file()));
    }
    files.sort();
    files.iter().map(|p| std::fs::read_to_string(p).expect("readable")).collect()
}

/// Parses source files into syntax trees, all alive at once, and prints them formatted.
fn format(sources: &[String]) -> u64 {
    let mut sum = 0;
    for _ in 0..4 {
        let trees: Vec<syn::File> =
            sources.iter().map(|s| syn::parse_file(s).expect("the sources parse")).collect();
        sum += trees.iter().map(|tree| prettyplease::unparse(tree).len() as u64).sum::<u64>();
    }
    sum
}

/// Maps from strings to lists of strings that grow, are regrouped and lose entries.
fn maps() -> u64 {
    let mut random = Random(88_172_645_463_325_252);
    let mut groups: HashMap<String, Vec<String>> = HashMap::new();
    let mut sum = 0;
    for round in 0..3u64 {
        for _ in 0..150_000 {
            let key = format!("key {}", random.below(20_000));
            groups.entry(key).or_default().push(format!("value {}", random.below(1 << 40)));
        }
        let mut by_length: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
        for (key, values) in &groups {
            by_length.entry((values.len(), key.clone())).or_default().extend(values.clone());
        }
        sum += by_length.values().flatten().map(|v| v.len() as u64).sum::<u64>();
        groups.retain(|key, _| key.len() as u64 % 3 != round % 3);
    }
    sum
}
