//! Memory opened along with the units, in the hardened build: the table of blocks, in a window of its own.

use crate::base::layout::Unit;
use crate::base::secret;
use crate::map::blocks::{self, BYTES_PER_UNIT};
use allod_os::vm::{self, Refused, Window};

/// Bytes of the table opened at once: for 64 MiB of blocks.
const STEP: usize = 8 << 20;

/// How far the table is open.
#[derive(Clone, Copy)]
pub struct Beside {
    window: Option<Window>,
    open: usize,
}

impl Beside {
    /// Nothing.
    pub const fn new() -> Beside {
        Beside { window: None, open: 0 }
    }

    /// Chooses a place for the table of a window with room for `capacity` units. False when there is none.
    pub fn choose(&mut self, capacity: usize, reserved: bool) -> bool {
        secret::draw();
        let len = capacity * BYTES_PER_UNIT;
        let align = 2 << 20;
        let window = match reserved {
            true => Window::reserve(vm::free_place(), len, align),
            false => Some(Window::unreserved(len, align)),
        };
        let Some(window) = window else { return false };
        self.window = Some(window);
        self.open = window.base;
        blocks::place(window.base);
        true
    }

    /// Opens the words of all units below `end`.
    pub fn reach(&mut self, end: Unit, generous: bool) -> bool {
        let Some(window) = self.window else { return false };
        let need = window.base + end.index() * BYTES_PER_UNIT;
        if need <= self.open {
            return true;
        }
        let step = if generous { STEP } else { vm::page_size() };
        let goal = need.next_multiple_of(step).min(window.base + window.len);
        for end in [goal, need.next_multiple_of(vm::page_size())] {
            let len = end - self.open;
            if window.commit(self.open, len) == Ok::<(), Refused>(()) {
                // A huge page would make words resident for 16 MiB of blocks.
                // SAFETY: the range was just opened.
                unsafe { vm::advise_huge(self.open, len, false) };
                self.open = end;
                return true;
            }
        }
        false
    }

    /// Stops reserving addresses that are not in use.
    ///
    /// # Safety
    /// Under the source's lock, with no opening under way.
    pub unsafe fn give_up(&mut self) {
        if let Some(window) = &mut self.window {
            // SAFETY: nothing beyond what is open is in use.
            unsafe { window.give_up(self.open, window.base + window.len) };
            window.reserved = false;
        }
    }
}
