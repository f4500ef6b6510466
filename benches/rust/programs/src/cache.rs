//! A cache that four threads share (`moka`): entries live long, are evicted by whichever thread's
//! turn it is, and are freed by whoever held them last.

use crate::Random;
use moka::sync::Cache;
use std::sync::Arc;

const THREADS: u64 = 4;
const LOOKUPS: u64 = 50_000;
const KEYS: u64 = 60_000;
const ENTRIES: u64 = 20_000;

/// What a lookup that misses makes: a page with its lines.
struct Page {
    title: String,
    lines: Vec<String>,
}

impl Page {
    fn make(key: u64) -> Arc<Self> {
        let mut random = Random(key + 1);
        let line = |_| "word ".repeat(1 + random.below(40) as usize);
        let lines = (0..1 + key % 9).map(line).collect();
        Arc::new(Self { title: format!("page {key}"), lines })
    }

    fn size(&self) -> u64 {
        (self.title.len() + self.lines.iter().map(String::len).sum::<usize>()) as u64
    }
}

/// Looks up pages by skewed keys. Which lookups hit is a matter of timing; what they find is not.
pub fn run() -> u64 {
    let cache: Cache<String, Arc<Page>> = Cache::new(ENTRIES);
    let reader = &|t| read(&cache, Random(0x9E37_79B9 * (t + 1)));
    std::thread::scope(|s| {
        let readers: Vec<_> = (0..THREADS).map(|t| s.spawn(move || reader(t))).collect();
        readers.into_iter().map(|r| r.join().expect("a reader ends")).sum()
    })
}

fn read(cache: &Cache<String, Arc<Page>>, mut random: Random) -> u64 {
    let mut sum = 0;
    for turn in 0..LOOKUPS {
        // The smaller of two: low keys are asked for more often.
        let key = random.below(KEYS).min(random.below(KEYS));
        let name = format!("/pages/{key}");
        if turn % 16 == 0 {
            cache.insert(name, Page::make(key));
        } else {
            sum += cache.get_with(name, || Page::make(key)).size();
        }
    }
    sum
}
