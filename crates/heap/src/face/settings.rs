//! Settings by name, while the program runs.
//!
//! A name is that of the environment variable in small letters and without `ALLOD_`: `purge_delay_ms` for
//! `ALLOD_PURGE_DELAY_MS`. docs/settings.md lists those that can change, and when a change takes effect.
//!
//! ```
//! use allod_heap::settings;
//!
//! let before = settings::get("purge_delay_ms")?;
//! settings::set("purge_delay_ms", 0)?;
//! assert_eq!(settings::get("purge_delay_ms")?, 0);
//! settings::set("purge_delay_ms", before)?;
//! # Ok::<(), settings::Error>(())
//! ```

pub use crate::base::settings::{Setting, TABLE};

use crate::base::hardening::EXACT;
use crate::base::settings::{GUARD, PROFILE_EVERY};
use crate::guard::blocks;
use crate::profile::samples;
use crate::purge::policy;
use crate::sample::due;
use core::fmt;
use core::ptr;

/// Why a setting could not be read or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No setting has this name.
    Unknown,
    /// The setting is a text, not a number.
    NotANumber,
    /// The setting is read at start and cannot change afterwards.
    Fixed,
    /// The setting does not take this value; this is what it takes.
    OutOfRange(&'static str),
    /// There is no memory for what the setting asks for.
    OutOfMemory,
    /// This build of the library cannot do what the setting asks for.
    NotInThisBuild,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unknown => f.write_str("no setting has this name"),
            Error::NotANumber => f.write_str("the setting is a text, not a number"),
            Error::Fixed => f.write_str("the setting cannot change while the program runs"),
            Error::OutOfRange(takes) => write!(f, "the setting takes {takes}"),
            Error::OutOfMemory => f.write_str("there is no memory for what the setting asks for"),
            Error::NotInThisBuild => f.write_str("the hardened build guards no blocks"),
        }
    }
}

impl core::error::Error for Error {}

/// The value in force: a number, and for a share such as 1/5000 its 5000. Thread-safe.
///
/// ```
/// use allod_heap::settings::{Error, get};
/// assert_eq!(get("guard"), Ok(0));
/// assert_eq!(get("gaurd"), Err(Error::Unknown));
/// ```
pub fn get(name: &str) -> Result<u64, Error> {
    let setting = find(name)?;
    Ok(match () {
        () if setting.is_text() => return Err(Error::NotANumber),
        () if ptr::eq(setting, &GUARD) => due::guarded_one_in().into(),
        () if ptr::eq(setting, &PROFILE_EVERY) => due::profiled_every(),
        () => setting.get().into(),
    })
}

/// Changes a setting, for all threads. When that takes effect is in the table of docs/settings.md. Thread-safe; of
/// two changes at the same time one is the last.
///
/// ```
/// use allod_heap::settings::{Error, set};
/// assert_eq!(set("verbose", 1), Err(Error::Fixed));
/// assert_eq!(set("abort", 2).unwrap_err().to_string(), "the setting takes 0 or 1");
/// ```
pub fn set(name: &str, value: u64) -> Result<(), Error> {
    let setting = find(name)?;
    if setting.change.is_none() {
        return Err(Error::Fixed);
    }
    let fits = u32::try_from(value).ok().filter(|&value| value <= setting.max);
    let value = fits.ok_or(Error::OutOfRange(setting.values))?;
    if ptr::eq(setting, &GUARD) {
        // The hardened build, where sizes are exact, checks all blocks and guards none.
        let why = if EXACT { Error::NotInThisBuild } else { Error::OutOfMemory };
        return blocks::set_rate(value).then_some(()).ok_or(why);
    }
    if ptr::eq(setting, &PROFILE_EVERY) {
        return samples::set_rate(value.into()).then_some(()).ok_or(Error::OutOfMemory);
    }
    setting.store(value);
    policy::settings_changed();
    Ok(())
}

fn find(name: &str) -> Result<&'static Setting, Error> {
    TABLE.into_iter().find(|setting| setting.is_called(name)).ok_or(Error::Unknown)
}
