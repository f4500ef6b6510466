//! No stacks of blocks: guarded samples have theirs.

use crate::base::settings;
use allod_os::io;
use core::fmt::{self, Write};

/// Says that the setting asks for what is not there.
pub fn start() {
    if settings::STACKS.on() {
        let _ = writeln!(
            io::Fd::stderr(),
            "allod: ALLOD_STACKS: only the hardened build notes stacks; guarded blocks (ALLOD_GUARD) have theirs"
        );
    }
}

/// What was asked for is not known, and the report names the block.
pub fn write_known(_: &mut dyn Write, _: *const u8) -> fmt::Result {
    Ok(())
}
