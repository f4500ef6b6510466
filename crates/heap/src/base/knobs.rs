//! Run-time switches for experiments (feature `knobs`): `ALLOD_BAND_B4=0` takes away the front caches of
//! a band, so that its blocks take the slower path through the slabs. Without the feature there are none.

#[cfg(feature = "knobs")]
mod on {
    use crate::base::class::Class;
    use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

    static BANDS_OFF: AtomicU32 = AtomicU32::new(0);

    /// Takes `ALLOD_BAND_B0` … `ALLOD_BAND_B7` with 0 or 1; false for any other name.
    pub fn read(name: &[u8], value: &[u8]) -> bool {
        let Some([band @ b'0'..=b'7']) = name.strip_prefix(b"ALLOD_BAND_B") else {
            return false;
        };
        let bit = 1 << (band - b'0');
        match value {
            b"0" => BANDS_OFF.fetch_or(bit, Relaxed),
            b"1" => BANDS_OFF.fetch_and(!bit, Relaxed),
            _ => return false,
        };
        true
    }

    /// True when the class keeps its front cache.
    pub fn cached(class: Class) -> bool {
        BANDS_OFF.load(Relaxed) >> class.band() & 1 == 0
    }
}

#[cfg(not(feature = "knobs"))]
mod on {
    use crate::base::class::Class;

    /// No name is a knob.
    pub fn read(_: &[u8], _: &[u8]) -> bool {
        false
    }

    /// Every class keeps its front cache.
    pub fn cached(_: Class) -> bool {
        true
    }
}

pub use on::{cached, read};
