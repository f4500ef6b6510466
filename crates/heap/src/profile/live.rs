//! Sampled blocks that are live, by address: an open table whose gaps are closed when an entry goes.

use crate::base::chance::mixed;
use crate::profile::room::Room;

/// Entries at first; there are twice as many whenever half are in use.
const FIRST: usize = 4096;

/// A sampled block. Zero bytes are none.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// The block.
    pub address: usize,
    /// Its size.
    pub size: usize,
    /// For how many blocks it stands.
    pub weight: f64,
    /// The number of its site.
    pub site: usize,
}

/// The live samples.
pub struct Live {
    table: Room<Sample>,
    used: usize,
}

impl Live {
    /// None, and no room.
    pub const fn none() -> Live {
        Live { table: Room::none(), used: 0 }
    }

    fn home(&self, address: usize) -> usize {
        mixed(address as u64) as usize % self.table.len()
    }

    /// The place of a block's entry, or that where it would be.
    fn find(&self, address: usize) -> usize {
        let mut at = self.home(address);
        while self.table[at].address != 0 && self.table[at].address != address {
            at = (at + 1) % self.table.len();
        }
        at
    }

    /// Adds a sample. False when memory is out.
    pub fn add(&mut self, sample: Sample) -> bool {
        if self.used * 2 >= self.table.len() && !self.grow() {
            return false;
        }
        let at = self.find(sample.address);
        self.used += usize::from(self.table[at].address == 0);
        self.table[at] = sample;
        true
    }

    fn grow(&mut self) -> bool {
        let len = (self.table.len() * 2).max(FIRST);
        // SAFETY: zero bytes are a sample of no block.
        let Some(table) = (unsafe { Room::zeroed(len) }) else { return false };
        let old = core::mem::replace(&mut self.table, table);
        for &sample in old.iter().filter(|sample| sample.address != 0) {
            let at = self.find(sample.address);
            self.table[at] = sample;
        }
        true
    }

    /// Takes a block's sample out; `None` for a block that is none.
    pub fn take(&mut self, address: usize) -> Option<Sample> {
        if self.used == 0 {
            return None;
        }
        let mut gap = self.find(address);
        let taken = self.table[gap];
        if taken.address == 0 {
            return None;
        }
        self.used -= 1;
        // Entries behind the gap that would not be found beyond it move into it.
        let len = self.table.len();
        let mut at = gap;
        loop {
            at = (at + 1) % len;
            let entry = self.table[at];
            if entry.address == 0 {
                break;
            }
            let from_home = |place: usize| (place + len - self.home(entry.address)) % len;
            if from_home(gap) < from_home(at) {
                self.table[gap] = entry;
                gap = at;
            }
        }
        self.table[gap].address = 0;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::base::chance::Random;
    use std::collections::BTreeMap;

    #[test]
    fn samples_are_found_until_they_are_taken() {
        let (mut live, mut expected) = (Live::none(), BTreeMap::new());
        let mut random = Random::new(3);
        for i in 0..200_000 {
            let address = (random.bits() % 20_000 + 1) as usize * 16;
            if random.bits().is_multiple_of(3) {
                let taken = live.take(address).map(|sample| sample.size);
                assert_eq!(taken, expected.remove(&address));
            } else {
                assert!(live.add(Sample { address, size: i, weight: 1.0, site: 0 }));
                expected.insert(address, i);
            }
        }
        assert_eq!(live.used, expected.len());
        for (address, size) in expected {
            assert_eq!(live.take(address).map(|sample| sample.size), Some(size));
        }
    }
}
