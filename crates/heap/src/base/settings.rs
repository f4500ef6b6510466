//! Settings: read from the environment once at start; some may change while the program runs.
//!
//! [`TABLE`] is the one list from which the parser, `allod help settings`, `docs/settings.md` and what changes
//! settings by name (`face/settings`) are made.

use crate::base::knobs;
use allod_os::{clock, env, io};
use core::ffi::CStr;
use core::fmt::Write;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};

/// One setting.
pub struct Setting {
    /// Name of the environment variable; see [`is_variable`](Setting::is_variable).
    pub name: &'static str,
    /// What values it takes, for people.
    pub values: &'static str,
    /// Value when it is not set.
    pub default: u32,
    /// Largest value.
    pub max: u32,
    /// What it does, for people.
    pub help: &'static str,
    /// When a change takes effect, for people; `None` where the setting cannot change while the program runs.
    pub change: Option<&'static str>,
    form: Form,
    value: AtomicU32,
}

/// How a value is written.
#[derive(Clone, Copy)]
enum Form {
    /// As a number.
    Number,
    /// As a share such as 1/5000, stored as 5000; or 0.
    Share,
    /// As text, which is stored separately.
    Words,
    /// Not in the environment at all.
    Nowhere,
}

impl Setting {
    const fn new(
        name: &'static str,
        values: &'static str,
        default: u32,
        max: u32,
        help: &'static str,
    ) -> Setting {
        let (form, value) = (Form::Number, AtomicU32::new(default));
        Setting { name, values, default, max, help, change: None, form, value }
    }

    const fn share(name: &'static str, values: &'static str, help: &'static str) -> Setting {
        Setting::new(name, values, 0, u32::MAX, help).written(Form::Share)
    }

    const fn words(name: &'static str, values: &'static str, help: &'static str) -> Setting {
        Setting::new(name, values, 0, 0, help).written(Form::Words)
    }

    const fn written(mut self, form: Form) -> Setting {
        self.form = form;
        self
    }

    /// May change while the program runs; `when` says when that takes effect.
    const fn changes(mut self, when: &'static str) -> Setting {
        self.change = Some(when);
        self
    }

    /// True for what can be set by an environment variable. All can, except for what is a part of another one.
    pub fn is_variable(&self) -> bool {
        !matches!(self.form, Form::Nowhere)
    }

    /// True for a setting whose value is a text.
    pub fn is_text(&self) -> bool {
        matches!(self.form, Form::Words)
    }

    /// True for the name of the setting while the program runs: that of the variable in small letters, without `ALLOD_`.
    pub fn is_called(&self, name: &str) -> bool {
        let own = self.name.strip_prefix(PREFIX).unwrap_or(self.name).bytes();
        own.map(|byte| byte.to_ascii_lowercase()).eq(name.bytes())
    }

    /// Parses a value; `None` if the setting does not take it.
    fn parse(&self, text: &str) -> Option<u32> {
        let number = match self.form {
            Form::Words => return keep_words(text),
            Form::Nowhere => return None,
            Form::Share if text != "0" => text.strip_prefix("1/").filter(|&n| n != "0")?,
            _ => text,
        };
        number.parse().ok().filter(|&value| value <= self.max)
    }

    /// The value in force.
    #[inline]
    pub fn get(&self) -> u32 {
        self.value.load(Relaxed)
    }

    /// Sets the value, and does nothing else about it.
    pub(crate) fn store(&self, value: u32) {
        self.value.store(value, Relaxed);
    }

    /// True when the value in force is not zero.
    #[inline]
    pub fn on(&self) -> bool {
        self.get() != 0
    }
}

/// What the names of all environment variables begin with.
pub const PREFIX: &str = "ALLOD_";

/// Report at exit.
pub static STATS: Setting =
    Setting::new("ALLOD_STATS", "0 or 1", 0, 1, "print a report of the heap on stderr at exit")
        .changes("when the program ends");
/// The one process that reports.
pub static STATS_PROCESS: Setting = Setting::new(
    "ALLOD_STATS_PROCESS",
    "a process ID, or 0",
    0,
    u32::MAX,
    "with `ALLOD_STATS=1`, the only process that reports; with 0, every process that inherits the setting does",
)
.changes("when the program ends");
/// Decay of freed memory.
pub static PURGE_DELAY_MS: Setting = Setting::new(
    "ALLOD_PURGE_DELAY_MS",
    "milliseconds, 0 to 3600000",
    500,
    3_600_000,
    "how long freed memory is kept for reuse before it goes back to the system",
)
.changes(
    "within a second, also for memory that is free already; without a helper thread, with the next of the program's \
     own calls that give memory back",
);
/// Background purging.
pub static BACKGROUND: Setting = Setting::new(
    "ALLOD_BACKGROUND",
    "0 or 1",
    1,
    1,
    "1: a helper thread gives memory back, even while the program is idle; 0: the program's own calls do it",
)
.changes("within a second a helper ends; one starts with one of the next allocations");
/// Huge pages: 0 never, 1 for all memory, 2 where they pay.
pub static HUGEPAGES: Setting = Setting::new(
    "ALLOD_HUGEPAGES",
    "0, 1 or 2",
    2,
    2,
    "transparent huge pages: 0 advises the system against them; 1 asks for them everywhere; 2 asks for one at a \
     time, in programs that use some MiB densely",
)
.changes("for memory that the heap opens from then on, 64 MiB at a time");
/// Whether the helper is there from the start, so that the process can be watched.
pub static LIVE: Setting = Setting::new(
    "ALLOD_LIVE",
    "0 or 1",
    0,
    1,
    "1: start the helper thread at once, so that `allod top` can also watch a program that holds less than 16 MiB",
)
.changes("with one of the next allocations");
/// Messages about start and purging.
pub static VERBOSE: Setting =
    Setting::new("ALLOD_VERBOSE", "0 or 1", 0, 1, "say on stderr at start that the heap is in use");
/// Whether misuse ends the process.
pub static ABORT: Setting = Setting::new(
    "ALLOD_ABORT",
    "0 or 1",
    1,
    1,
    "1: end the process when an invalid pointer is freed; 0: report it, ignore it and go on",
)
.changes("at once");

/// One in this many blocks is guarded.
pub static GUARD: Setting = Setting::share(
    "ALLOD_GUARD",
    "a share such as 1/5000, or 0",
    "put this share of all blocks up to 56 KiB on pages of their own, and report accesses outside them or after \
     they were freed",
)
.changes("for each thread's next blocks; 5000 stands for 1/5000");

/// Whether the hardened build notes by which stacks blocks are allocated and freed.
pub static STACKS: Setting = Setting::new(
    "ALLOD_STACKS",
    "0 or 1",
    0,
    1,
    "in the hardened build, record the stacks that allocate and free blocks, for reports",
);

/// Where a heap profile is written, and how often a sample is taken.
pub static PROFILE: Setting = Setting::words(
    "ALLOD_PROFILE",
    "FILE[,every=512KiB][,signal=SIGUSR2]",
    "write a heap profile in pprof's format at exit, with one sample per this many bytes on average; %p in the \
     file name stands for the process ID; at the signal, write one into FILE.1, FILE.2 and so on",
);
/// The one process that is profiled.
pub static PROFILE_PROCESS: Setting = Setting::new(
    "ALLOD_PROFILE_PROCESS",
    "a process ID, or 0",
    0,
    u32::MAX,
    "with `ALLOD_PROFILE`, the only process that is profiled; with 0, every process that inherits the setting is",
);
/// How often a sample is taken, while the program runs. What is in force is known where samples are drawn.
pub static PROFILE_EVERY: Setting = Setting::new(
    "profile_every",
    "bytes, 0 to 4294967295",
    0,
    u32::MAX,
    "take one sample for the heap profile per this many bytes on average, and begin a profile if there is none; \
     0: take no more",
)
.written(Form::Nowhere)
.changes("for each thread's next blocks");

/// The text of [`PROFILE`], ending in a zero byte.
static WORDS: [AtomicU8; 1024] = [const { AtomicU8::new(0) }; 1024];

fn keep_words(text: &str) -> Option<u32> {
    let fits = text.len() < WORDS.len();
    // As for the other settings, 0 is none.
    let text = if text == "0" { "" } else { text };
    fits.then(|| {
        // An environment may hold the same name twice: no longer text before shows through.
        let words = text.bytes().chain([0]);
        WORDS.iter().zip(words).for_each(|(place, byte)| place.store(byte, Relaxed));
        u32::from(!text.is_empty())
    })
}

/// The value of [`PROFILE`]; empty where it is not set. The settings have been read by now, and do not change.
pub fn profile() -> &'static str {
    if !PROFILE.on() {
        return "";
    }
    // SAFETY: bytes are written while the environment is read, and not after; they came from a text and end in a zero byte.
    let words = unsafe { CStr::from_ptr(WORDS.as_ptr().cast()) };
    words.to_str().unwrap_or("")
}

/// Every setting.
pub static TABLE: [&Setting; 13] = [
    &STATS,
    &STATS_PROCESS,
    &PURGE_DELAY_MS,
    &BACKGROUND,
    &HUGEPAGES,
    &LIVE,
    &VERBOSE,
    &ABORT,
    &GUARD,
    &STACKS,
    &PROFILE,
    &PROFILE_PROCESS,
    &PROFILE_EVERY,
];

static READ: AtomicBool = AtomicBool::new(false);

/// Reads the environment, once. Unknown `ALLOD_` names and bad values are named on stderr and
/// ignored.
pub fn read() {
    if !env::is_ready() || READ.swap(true, Relaxed) {
        return;
    }
    env::each_with_prefix(PREFIX.as_bytes(), |name, value| {
        let parsed = |s: &Setting| s.parse(core::str::from_utf8(value).ok()?);
        let text = |bytes| core::str::from_utf8(bytes).unwrap_or("?");
        if knobs::read(name, value) {
            return;
        }
        let Some(s) = TABLE.iter().find(|s| s.name.as_bytes() == name) else {
            let _ = writeln!(
                io::Fd::stderr(),
                "allod: unknown setting {} ignored; `allod help settings` lists them",
                text(name)
            );
            return;
        };
        match parsed(s) {
            Some(v) if !is_callers_to_say(s, v) => {}
            Some(v) => s.store(v),
            None => {
                let _ = writeln!(
                    io::Fd::stderr(),
                    "allod: {}={} ignored; it takes {}",
                    s.name,
                    text(value),
                    s.values
                );
            }
        }
    });
    if VERBOSE.on() {
        let _ = writeln!(
            io::Fd::stderr(),
            "allod: version {} serves process {}",
            crate::VERSION,
            io::pid()
        );
    }
}

/// False in a program that runs with rights its caller does not have, for what would lend them to the caller:
/// switching checks off, and having files written.
fn is_callers_to_say(s: &Setting, value: u32) -> bool {
    let checks_off = s.name == ABORT.name && value == 0;
    !(checks_off || s.name == PROFILE.name) || !env::is_privileged()
}

/// A number that is another one in every process, from the system's own randomness where it gives some.
pub fn seed() -> u64 {
    env::random_word() ^ clock::coarse_millis()
}

/// Milliseconds on the decay clock, modulo 2^32.
#[inline]
pub fn now() -> u32 {
    clock::coarse_millis() as u32
}
