//! docs/settings.md says what the table says. After a change, `BLESS=1 cargo test -p allod-heap
//! --test settings` writes it anew.

use allod_heap::settings::TABLE;
use std::fmt::Write;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/settings.md");

const BEFORE: &str = "\
# Settings

Environment variables, read once when a program starts. They work the same way for preloaded programs,
programs linked with Allod, and Rust programs that use it as global allocator. `allod help settings` prints
the same list.

| variable | takes | without it | what it does |
| --- | --- | --- | --- |
";

const AFTER: &str = "
A name that begins with `ALLOD_` and is not in the table, or a value that the variable does not take, is
named on standard error once and ignored.

In a program that runs with rights its caller does not have (setuid, setgid, file capabilities: `AT_SECURE`),
`ALLOD_ABORT=0` and `ALLOD_PROFILE` are silently ignored: the caller cannot switch the checks off, nor have
files written with rights that are not its own. The other settings are honoured there.

Memory allocated before the C library has set up its environment (by constructors of other libraries, for instance) is
served with the defaults.

[memory-given-back.md](memory-given-back.md) says what the helper thread does and what happens without it;
[its last part](memory-given-back.md#huge-pages) describes the policy for huge pages.

## While the program runs
A program can read all settings that are numbers, and change most of them:

| in C | in Rust | |
| --- | --- | --- |
| `allod_setting_get(\"purge_delay_ms\", &value)` | `allod::settings::get(\"purge_delay_ms\")` | reads the value in force |
| `allod_setting_set(\"purge_delay_ms\", 0)` | `allod::settings::set(\"purge_delay_ms\", 0)` | changes it for all threads |

```sh
cargo new --quiet tuned
cd tuned
cargo add --quiet --path \"$ALLOD/crates/allod\"
```

```rust
use allod::settings::{self, Error};

settings::set(\"hugepages\", 0).expect(\"0 is one of its values\");
assert_eq!(settings::get(\"hugepages\"), Ok(0));
assert_eq!(settings::set(\"hugepages\", 9), Err(Error::OutOfRange(\"0, 1 or 2\")));
```

Any thread may call these functions at any time, but not a signal handler. The C functions return 0, or -1 with `errno` set:

| `errno` | reason |
| --- | --- |
| `ENOENT` | no setting has this name |
| `EPERM` | the setting cannot change while the program runs |
| `ERANGE` | the setting does not take this value |
| `EINVAL` | the setting is a text, not a number |
| `ENOMEM` | there is no memory for guarded blocks or a profile |
| `ENOTSUP` | the hardened build has no guarded blocks |

| name | a change takes effect |
| --- | --- |
{CHANGES}
`profile_every` is no environment variable of its own but a part of `ALLOD_PROFILE`. While the program runs it takes {EVERY}:
{RATE}. When the rate changes, samples taken so far keep their weight.

## Experiments
A library built with the feature `knobs` also takes `ALLOD_BAND_B0` … `ALLOD_BAND_B7`. With 0, blocks of that
band are served without a front cache, straight from their slabs under the heap's lock. That way you can measure
what the front cache is worth to a program. Bands: B0 up to 32 bytes, B1 64, B2 128, B3 256, B4 512,
B5 1024, B6 2048, B7 4096. Without the feature the switches are not compiled in, and the names
are unknown. `cargo build --release -p allod-capi --features allod-heap/knobs` builds such a library.

`allod matrix` builds such a library itself; `allod matrix --shipped front-caches` measures what the caches of three bands are
worth, alone and together ([experiments.md](experiments.md#front-caches-band-by-band)).
";

fn page() -> String {
    let mut text = String::from(BEFORE);
    let (variables, others): (Vec<_>, Vec<_>) = TABLE.into_iter().partition(|s| s.is_variable());
    for s in variables {
        writeln!(text, "| `{}` | {} | {} | {} |", s.name, s.values, s.default, s.help).unwrap();
    }
    let changes: String = TABLE
        .iter()
        .filter_map(|s| {
            let name = s.name.trim_start_matches("ALLOD_").to_lowercase();
            Some(format!("| `{name}` | {} |\n", s.change?))
        })
        .collect();
    let [every] = others[..] else { panic!("one setting is no variable") };
    text + &AFTER
        .replace("{CHANGES}", &changes)
        .replace("{EVERY}", every.values)
        .replace("{RATE}", every.help)
}

#[test]
fn the_page_of_settings_is_up_to_date() {
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(PAGE, page()).unwrap();
    }
    let there = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(there == page(), "docs/settings.md is out of date; write it with BLESS=1");
}
