//! Writing a profile down.

use crate::base::chance::mixed;
use crate::profile::fields::{put, text};
use crate::profile::gzip::Gzip;
use crate::profile::mappings::Mappings;
use crate::profile::parts;
use crate::profile::pprof::Message;
use crate::profile::room::Room;
use crate::profile::samples::{self, By};
use crate::profile::sites::Site;
use crate::purge::fork;
use crate::sample::due;
use allod_os::clock;
use allod_os::file::{File, Refusal};
use core::ffi::CStr;

/// Names in the table of strings; those of mappings follow.
const NAMES: [&str; 8] =
    ["", "alloc_objects", "count", "alloc_space", "bytes", "inuse_objects", "inuse_space", "space"];
const COUNT: u64 = 2;
const BYTES: u64 = 4;
const INUSE_SPACE: u64 = 6;
const SPACE: u64 = 7;
/// What each sample has, with its unit.
const VALUES: [(u64, u64); 4] = [(1, COUNT), (3, BYTES), (5, COUNT), (INUSE_SPACE, BYTES)];

/// Writes the profile into a file. A refusal leaves what was written until then.
pub fn write(path: &CStr, by: By) -> Result<(), Refusal> {
    let (sites, file) = match by {
        By::Late => {
            let file = File::create_at_once(path)?;
            (samples::sites(by)?, file)
        }
        By::Call | By::Handler => (samples::sites(by)?, File::create(path)?),
    };
    let mut out = Gzip::new(file);
    let mappings = Mappings::now();
    for (name, unit) in VALUES {
        put(&mut out, 1, &Message::new().number(1, name).number(2, unit));
    }
    let strings = write_names(&mut out, &mappings);
    parts::write(&mut out, strings, fork::is_interrupted());
    // SAFETY: zero bytes are numbers.
    let mut known = Known(unsafe { Room::zeroed(MOST_LOCATIONS) }.unwrap_or(Room::none()));
    for site in sites.iter() {
        write_site(&mut out, site, &mappings, &mut known);
    }
    put(&mut out, 11, &Message::new().number(1, SPACE).number(2, BYTES));
    let last = Message::new()
        .number(9, clock::wall_nanos())
        .number(12, due::profiled_every())
        .number(14, INUSE_SPACE);
    out.write(last.bytes());
    out.finish()
}

/// The table of strings, and the mappings, whose names are in it. Returns how many strings there are.
fn write_names(out: &mut Gzip, mappings: &Mappings) -> u64 {
    NAMES.iter().for_each(|name| text(out, &[name]));
    for mapping in mappings.all() {
        text(out, &[mapping.path()]);
        text(out, &[mapping.id()]);
    }
    for (i, mapping) in mappings.all().iter().enumerate() {
        let name = (NAMES.len() + 2 * i) as u64;
        let message = Message::new()
            .number(1, i as u64 + 1)
            .number(2, mapping.start as u64)
            .number(3, mapping.end as u64)
            .number(4, mapping.offset as u64)
            .number(5, name)
            .number(6, name + 1);
        put(out, 3, &message);
    }
    (NAMES.len() + 2 * mappings.all().len()) as u64
}

fn write_site(out: &mut Gzip, site: &Site, mappings: &Mappings, known: &mut Known) {
    // Of a caller the address is the one behind its call.
    let address = |(depth, &pc): (usize, &usize)| pc - usize::from(depth > 0);
    let addresses = || site.trace.frames().iter().enumerate().map(address);
    for address in addresses().filter(|&address| known.is_new(address)) {
        let message = Message::new()
            .number(1, address as u64)
            .number(2, mappings.number_of(address) as u64)
            .number(3, address as u64);
        put(out, 4, &message);
    }
    // Sums of floating point numbers may end a little off; there are no negative blocks.
    let whole = |value: f64| (value + 0.5) as u64;
    let (total, live) = (site.total, site.live);
    let values = [total.objects, total.bytes, live.objects, live.bytes].map(whole);
    let message = Message::new()
        .numbers(1, addresses().map(|address| address as u64))
        .numbers(2, values.into_iter());
    put(out, 2, &message);
}

/// Addresses at most; more are written again, which readers take.
const MOST_LOCATIONS: usize = 1 << 18;

/// The addresses that were written.
struct Known(Room<usize>);

impl Known {
    fn is_new(&mut self, address: usize) -> bool {
        let len = self.0.len().max(1);
        let mut at = mixed(address as u64) as usize % len;
        // Hardly ever more than a few steps: there are far fewer addresses in a program.
        for _ in 0..64 {
            match self.0.get_mut(at) {
                Some(place) if *place == address => return false,
                Some(place) if *place == 0 => {
                    *place = address;
                    return true;
                }
                _ => at = (at + 1) % len,
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_that_interrupted_a_recording_is_refused_and_no_file_is_touched() {
        let path = c"/nowhere/that/could/be/written";
        // As in such a handler, the calling thread has the profile's lock.
        samples::locked(|| assert_eq!(write(path, By::Call), Err(Refusal::BUSY)));
        assert_eq!(write(path, By::Call), Err(Refusal(libc::ENOENT)));
    }
}
