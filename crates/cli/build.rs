//! Writes down what `allod help settings` says, from the heap's own table. The command itself does
//! not link the heap: it would take the settings for its own.

use allod_heap::settings::TABLE;
use std::fmt::Write;

fn main() {
    let mut text =
        String::from("Settings are environment variables, read once when a program starts.\n\n");
    for s in TABLE.into_iter().filter(|s| s.is_variable()) {
        writeln!(text, "{}", s.name).unwrap();
        writeln!(text, "    {}", s.help).unwrap();
        writeln!(text, "    takes {}; without it {}\n", s.values, s.default).unwrap();
    }
    text.push_str(
        "A library built with the feature `knobs` also takes ALLOD_BAND_B0 … ALLOD_BAND_B7: with 0,\n\
         blocks of that band are served without a front cache.\n\n\
         A running program changes most of them with allod_setting_set or allod::settings::set.\n\
         Other names that begin with ALLOD_ are named on stderr and ignored.\n",
    );
    let folder = std::env::var_os("OUT_DIR").expect("cargo sets it");
    std::fs::write(std::path::Path::new(&folder).join("settings.txt"), text).expect("writable");
    println!("cargo::rerun-if-changed=build.rs");
}
