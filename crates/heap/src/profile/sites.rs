//! Callers and their sums.

use crate::base::trace::Trace;
use crate::profile::room::Room;

/// Sites at most; samples of more are counted at the last one, which has no callers.
const MOST: usize = 1 << 15;

/// How much was allocated, as estimated from samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    /// Blocks.
    pub objects: f64,
    /// Their bytes.
    pub bytes: f64,
}

impl Sum {
    /// Adds samples, or takes them off with a negative weight.
    pub fn add(&mut self, weight: f64, size: usize) {
        self.objects += weight;
        self.bytes += weight * size as f64;
    }
}

/// Callers, and what they allocated. Zero bytes are a site that is not in use.
#[derive(Clone, Copy)]
pub struct Site {
    fingerprint: u64,
    /// The callers.
    pub trace: Trace,
    /// All blocks so far.
    pub total: Sum,
    /// Those that are live.
    pub live: Sum,
}

/// All sites, by fingerprint.
pub struct Sites {
    table: Room<Site>,
    used: usize,
}

impl Sites {
    /// None, and no room.
    pub const fn none() -> Sites {
        Sites { table: Room::none(), used: 0 }
    }

    /// Room for sites. `None` when memory is out.
    pub fn new() -> Option<Sites> {
        // SAFETY: zero bytes are numbers and a trace of nobody.
        Some(Sites { table: unsafe { Room::zeroed(MOST + 1)? }, used: 0 })
    }

    /// The number of the site with these callers, which is made if there is none yet.
    pub fn number_of(&mut self, trace: &Trace) -> usize {
        let fingerprint = trace.fingerprint().max(1);
        let mut at = fingerprint as usize % MOST;
        loop {
            let site = &mut self.table[at];
            if site.fingerprint == fingerprint {
                return at;
            }
            if site.fingerprint == 0 {
                break;
            }
            at = (at + 1) % MOST;
        }
        // Searches stay short while a quarter is free.
        if self.used >= MOST / 4 * 3 {
            self.table[MOST].fingerprint = 1;
            return MOST;
        }
        self.used += 1;
        self.table[at].fingerprint = fingerprint;
        self.table[at].trace = *trace;
        at
    }

    /// A site by its number.
    pub fn site(&mut self, number: usize) -> &mut Site {
        &mut self.table[number]
    }

    /// A copy of all sites in use. `None` when memory is out.
    pub fn copy(&self) -> Option<Room<Site>> {
        let in_use = || self.table.iter().filter(|site| site.fingerprint != 0);
        // SAFETY: zero bytes are a site that is not in use.
        let mut copy = unsafe { Room::zeroed(in_use().count())? };
        copy.iter_mut().zip(in_use()).for_each(|(place, site)| *place = *site);
        Some(copy)
    }
}
