//! Dictionaries, beside hash maps: with the standard library's hash function, and with the same one that
//! dictionaries have, so that what is compared is the table and not the hash.

use allod_lab::inprocess::Bench;
use allod_region::{Region, Value, hash};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::hint::black_box;

/// Dictionaries made in one region.
const MADE: u64 = 100;
/// Entries of the dictionary that is looked up in.
const LARGE: u64 = 1000;

/// The hash function of dictionaries for single words.
#[derive(Clone, Copy, Default)]
struct SameHash(u64);

impl Hasher for SameHash {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = hash::text(bytes);
    }
    #[inline(always)]
    fn write_u64(&mut self, word: u64) {
        self.0 = hash::word(word);
    }
    #[inline(always)]
    fn finish(&self) -> u64 {
        self.0
    }
}

impl BuildHasher for SameHash {
    type Hasher = SameHash;
    #[inline(always)]
    fn build_hasher(&self) -> SameHash {
        SameHash(0)
    }
}

/// Adds the workloads.
pub fn add(bench: &mut Bench<'static>) {
    bench.add("dict-create", "batch", MADE, || {
        let r = Region::new();
        let mut last = Value::NIL;
        for _ in 0..MADE {
            last = r.dict_from((0..10).map(|i| (Value::int(i), Value::int(2 * i))));
        }
        last.entries()
            .map(|(k, v)| (k.as_int().unwrap_or(0) * v.as_int().unwrap_or(0)) as u64)
            .sum()
    });
    let region: &'static Region = Box::leak(Box::new(Region::new()));
    let dict = region.dict_from((0..LARGE as i64).map(|i| (Value::int(7 * i), Value::int(i))));
    bench.add("dict-get", "typed", LARGE, move || {
        let get = |i| dict.get(Value::int(black_box(7 * i))).and_then(Value::as_int);
        (0..LARGE as i64).map(|i| get(i).unwrap_or(0) as u64).sum()
    });
    maps::<RandomState>(bench, "std-hashmap");
    maps::<SameHash>(bench, "same-hash");
}

fn maps<S: BuildHasher + Default + 'static>(bench: &mut Bench<'static>, subject: &str) {
    bench.add("dict-create", subject, MADE, || {
        let mut last = HashMap::<u64, u64, S>::default();
        for _ in 0..MADE {
            last = (0..10).map(|i| (i, 2 * i)).collect();
        }
        last.iter().map(|(k, v)| k * v).sum()
    });
    let map: HashMap<u64, u64, S> = (0..LARGE).map(|i| (7 * i, i)).collect();
    bench.add("dict-get", subject, LARGE, move || {
        (0..LARGE).map(|i| map.get(&black_box(7 * i)).copied().unwrap_or(0)).sum()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_hashes_words_as_dictionaries_do() {
        for word in [0, 1, 7, u64::MAX] {
            assert_eq!(SameHash::default().hash_one(word), hash::word(word));
        }
    }
}
