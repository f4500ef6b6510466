//! Memory whose use is known without samples: what other layers count themselves, and the spans they hold.
//!
//! Each amount is a sample of the profile, with a stack of its names in place of callers, the layer first, and labels that say
//! the same.

use crate::base::layout::UNIT_SHIFT;
use crate::map::record::Kind;
use crate::profile::fields::{put, text};
use crate::profile::gzip::Gzip;
use crate::profile::pprof::Message;
use crate::source::SOURCE;
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed};

/// How much of its memory a layer uses for what.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// What the layer tells apart, such as `tag`.
    pub key: &'static str,
    /// Which one this is, such as `physics`.
    pub name: &'static str,
    /// Objects so far, and their bytes.
    pub total: (u64, u64),
    /// Those that are live; 0 of objects where only bytes are known.
    pub live: (u64, u64),
}

/// A layer above the heap that counts what its memory is used for.
pub struct Part {
    /// Its name.
    pub layer: &'static str,
    /// Calls a function with each amount. Allocates nothing; may take locks of the layer that take part in forks.
    pub each: fn(&mut dyn FnMut(Amount)),
}

/// More than there are.
const MOST: usize = 4;
static PARTS: [AtomicPtr<Part>; MOST] = [const { AtomicPtr::new(ptr::null_mut()) }; MOST];

/// Has a layer's amounts in all profiles from now on. Calling it again for the same layer does nothing.
pub fn add(part: &'static Part) {
    let part = ptr::from_ref(part).cast_mut();
    let found = PARTS.iter().any(|place| {
        let taken = place.compare_exchange(ptr::null_mut(), part, AcqRel, Acquire);
        taken.is_ok() || taken == Err(part)
    });
    debug_assert!(found, "more parts than places");
}

/// The layers, and the spans that they hold.
const LAYERS: [(&str, Kind); 2] = [("frame", Kind::Frame), ("region", Kind::Region)];

/// Writes all amounts, given how many strings are in the profile before. A signal handler that interrupted a layer does
/// not ask for what the layers count. What a layer does not tell apart of its spans is written as the layer's.
pub fn write(out: &mut Gzip, strings: u64, is_interrupted: bool) {
    let mut writer = Writer { out, strings, functions: 0 };
    let mut told = [0; LAYERS.len()];
    let places = if is_interrupted { &PARTS[..0] } else { &PARTS[..] };
    // SAFETY: null, or a static value.
    for part in places.iter().map_while(|place| unsafe { place.load(Acquire).as_ref() }) {
        let layer = LAYERS.iter().position(|(name, _)| *name == part.layer);
        (part.each)(&mut |amount| {
            writer.write(part.layer, &amount);
            if let Some(i) = layer {
                told[i] += amount.live.1;
            }
        });
    }
    for ((layer, kind), told) in LAYERS.into_iter().zip(told) {
        let units = SOURCE.stats.kind_units[kind as usize].load(Relaxed);
        let rest = ((units << UNIT_SHIFT) as u64).saturating_sub(told);
        writer
            .write(layer, &Amount { key: "", name: "", total: (0, 0), live: (units as u64, rest) });
    }
}

struct Writer<'a> {
    out: &'a mut Gzip,
    strings: u64,
    functions: u64,
}

impl Writer<'_> {
    fn write(&mut self, layer: &str, amount: &Amount) {
        let values = [amount.total.0, amount.total.1, amount.live.0, amount.live.1];
        if values == [0; 4] {
            return;
        }
        let mut sample = Message::new();
        // The innermost first.
        if !amount.name.is_empty() {
            sample = sample.number(1, self.function(&[amount.key, " ", amount.name]));
        }
        sample = sample.number(1, self.function(&["memory of the layer ", layer]));
        sample = sample.numbers(2, values.into_iter());
        for (key, value) in [("layer", layer), (amount.key, amount.name)] {
            if !value.is_empty() {
                let label = Message::new().number(1, self.string(&[key]));
                sample = sample.message(3, &label.number(2, self.string(&[value])));
            }
        }
        put(self.out, 2, &sample);
    }

    /// The number of a string that is added to the table.
    fn string(&mut self, pieces: &[&str]) -> u64 {
        text(self.out, pieces);
        self.strings += 1;
        self.strings - 1
    }

    /// A function that stands for no code; the number of the location in it, which is no address of code.
    fn function(&mut self, name: &[&str]) -> u64 {
        let name = self.string(name);
        self.functions += 1;
        let id = self.functions;
        put(self.out, 5, &Message::new().number(1, id).number(2, name).number(3, name));
        let line = Message::new().number(1, id);
        put(self.out, 4, &Message::new().number(1, u64::MAX - id).message(4, &line));
        u64::MAX - id
    }
}
