//! What the setting `ALLOD_PROFILE` asks for: a file, and how often a sample is taken.

use crate::base::settings;
use crate::profile::{dump, samples};
use crate::purge::policy;
use allod_os::file::Refusal;
use allod_os::io;
use core::ffi::CStr;
use core::fmt::{self, Write};
use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Bytes between two samples where nothing else is asked for.
pub const EVERY: u64 = 512 * 1024;

/// A path that ends in a zero byte.
struct Path {
    used: usize,
    bytes: [u8; 1024],
}

impl Write for Path {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.used + text.len();
        let place = self.bytes[..1023].get_mut(self.used..end).ok_or(fmt::Error)?;
        place.copy_from_slice(text.as_bytes());
        self.used = end;
        Ok(())
    }
}

/// What is asked for.
struct Asked {
    path: &'static str,
    every: u64,
}

/// The process that began a profile because the setting asked for it, until one is written; else 0.
static BEGUN_BY: AtomicU32 = AtomicU32::new(0);

/// Begins the profile that the setting asks for.
pub fn start() {
    let (text, one) = (settings::profile(), settings::PROFILE_PROCESS.get());
    if text.is_empty() || one != 0 && one != io::pid() {
        return;
    }
    let mut out = io::Fd::stderr();
    let Some(asked) = parse(text) else {
        let _ = writeln!(
            out,
            "allod: ALLOD_PROFILE={text} ignored; it takes FILE, or FILE,every=SIZE with a size such as 512KiB"
        );
        return;
    };
    if samples::start(asked.every) {
        BEGUN_BY.store(io::pid(), Relaxed);
    } else {
        let _ = writeln!(out, "allod: ALLOD_PROFILE: no profile is taken: no memory for it");
    }
}

/// True while a profile that the setting asks for may have to be written.
pub fn is_begun() -> bool {
    BEGUN_BY.load(Relaxed) != 0
}

/// Writes the profile at the end of the process, once. A child that shares its parent's memory (vfork) is no process
/// of its own here; a forked one writes nothing over its parent's, but where the path has a place for its number.
pub fn at_end() {
    if !policy::is_ours() || !is_begun() {
        return;
    }
    let begun_by = BEGUN_BY.swap(0, Relaxed);
    let Some(asked) = parse(settings::profile()) else { return };
    let has_own_file = asked.path.contains("%p") && settings::PROFILE_PROCESS.get() == 0;
    if begun_by != io::pid() && !has_own_file {
        return;
    }
    let mut path = Path { used: 0, bytes: [0; 1024] };
    let fits = match asked.path.split_once("%p") {
        Some((before, after)) => write!(path, "{before}{}{after}", io::pid()),
        None => path.write_str(asked.path),
    };
    let path = CStr::from_bytes_until_nul(&path.bytes).unwrap_or(c"");
    let written = fits.map_err(|_| Refusal::TOO_LONG).and_then(|()| dump::write(path));
    if let Err(refusal) = written {
        let name = path.to_str().unwrap_or("?");
        let _ =
            writeln!(io::Fd::stderr(), "allod: cannot write the heap profile {name}: {refusal}");
    }
}

fn parse(text: &'static str) -> Option<Asked> {
    let (path, every) = match text.rsplit_once(",every=") {
        Some((path, size)) => (path, bytes(size)?),
        None => (text, EVERY),
    };
    (!path.is_empty()).then_some(Asked { path, every })
}

/// A size such as 1000, 512KiB or 2MiB; `None` for 0, and for what is none.
fn bytes(text: &str) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let shift = match &text[digits..] {
        "" | "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        _ => return None,
    };
    let number: u64 = text[..digits].parse().ok()?;
    number.checked_mul(1 << shift).filter(|&bytes| bytes > 0 && bytes < 1 << 50)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_understood() {
        let asked = |text| parse(text).map(|asked| (asked.path, asked.every));
        assert_eq!(asked("a.pb.gz"), Some(("a.pb.gz", 512 << 10)));
        assert_eq!(asked("a,b.gz,every=2MiB"), Some(("a,b.gz", 2 << 20)));
        assert_eq!(asked("x,every=1"), Some(("x", 1)));
        for wrong in
            ["", ",every=1", "x,every=0", "x,every=often", "x,every=1KB", "x,every=-1", "x,every="]
        {
            assert_eq!(asked(wrong), None, "{wrong}");
        }
    }
}
