//! What a program and the library share: `struct sch_state` of `scheme.h`.

use crate::word::V;
use allod_region::control::Control;
use std::ptr;

/// `struct sch_state`.
#[repr(C)]
pub struct State {
    pub region: *mut Control,
    pub poll: u64,
    pub dynamic: V,
    pub winders: V,
    pub base: *mut V,
    pub constants: u64,
    pub constant_bytes: u64,
    pub always: u64,
    serial: u64,
    same: u64,
    kept: u64,
    pub open: u64,
}

/// Shared with the program, which reads and writes it in inlined functions.
#[unsafe(no_mangle)]
pub static mut sch_rt: State = State {
    region: ptr::null_mut(),
    poll: 0,
    dynamic: V::NIL,
    winders: V::NIL,
    base: ptr::null_mut(),
    constants: 0,
    constant_bytes: 0,
    always: 0,
    serial: 0,
    same: 0,
    kept: 0,
    open: 0,
};

/// The state of the program.
pub fn state() -> &'static mut State {
    let place = &raw mut sch_rt;
    // SAFETY: there is one thread, and nobody here keeps the reference over a call.
    unsafe { &mut *place }
}

impl State {
    /// From here on every release goes through the library.
    pub fn look_at_releases(&mut self) {
        self.same = self.serial + (1 << 63);
    }

    /// What ends scopes has happened.
    pub fn changed(&mut self) {
        self.serial += 1;
        self.same += 1;
    }

    /// All marks are over.
    pub fn keep(&mut self) {
        self.changed();
        self.kept = self.serial;
        self.open = 0;
    }

    /// The number that marks are given now.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Whether a checked program has a mark that is not over.
    pub fn has_open_scope(&self) -> bool {
        self.always != 0 && self.open != 0
    }

    /// Whether every release goes through the library.
    pub fn is_looked_at(&self) -> bool {
        self.same != self.serial
    }

    /// Whether this is a checked program.
    pub fn is_checked(&self) -> bool {
        self.always != 0
    }

    /// Whether a mark is not over.
    pub fn is_open(&self, serial: u64) -> bool {
        serial >= self.kept
    }
}
