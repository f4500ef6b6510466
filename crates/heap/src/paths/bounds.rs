//! The end of the block that a pointer points into, for functions that are about to copy (hardened build).

use crate::base::layout::MIN_ALIGN;
use crate::map::misuse::{Misuse, misuse};
use crate::map::record::{Kind, Span};
use crate::map::span_map::MAP;
use crate::paths::calls::live_at;

/// How many bytes there are from a pointer to the end of the block it points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// Not a block of the heap: nothing is known.
    Unknown,
    /// Bytes to the end of the live block.
    Bytes(usize),
    /// In the heap, but in no live block.
    Dead,
}

/// The room at `p`, which may be any address. Never touches the memory there. Exact for a block that nobody frees
/// meanwhile.
///
/// ```
/// # #[cfg(feature = "hardened")] {
/// use allod_heap::{bounds::{Room, room_at}, free, malloc};
/// let p = malloc(100);
/// assert_eq!(room_at(p.wrapping_add(30)), Room::Bytes(70));
/// // SAFETY: allocated above.
/// unsafe { free(p) };
/// assert_eq!(room_at(p), Room::Dead);
/// # }
/// ```
#[inline]
pub fn room_at(p: *const u8) -> Room {
    let (_, unit) = MAP.base_and_unit(p);
    if unit >= MAP.limit() { Room::Unknown } else { room_in_window(p) }
}

fn room_in_window(p: *const u8) -> Room {
    let Some(bin) = MAP.bin_of(p) else { return Room::Unknown };
    let start = if MAP.is_front_cache(bin) {
        let span = Span::of_block(p);
        // SAFETY: the records of entered spans are valid; a live block's slab stays.
        let (first, slab) = unsafe { ((*span).start, *Span::slab(span)) };
        let offset = (p as usize).wrapping_sub(first);
        if slab.size == 0 || offset >= slab.size as usize * slab.blocks as usize {
            return Room::Dead;
        }
        first + offset / slab.size as usize * slab.size as usize
    } else {
        let Some(span) = MAP.span_of_bin(bin) else { return Room::Dead };
        // SAFETY: the records of entered spans are valid.
        match unsafe { ((*span).kind(), (*span).start) } {
            (Kind::Large, start) => start,
            (Kind::Free, _) => return Room::Dead,
            _ => return Room::Unknown,
        }
    };
    debug_assert!(start.is_multiple_of(MIN_ALIGN));
    let Some(live) = live_at(start as *const u8) else { return Room::Dead };
    let into = (p as usize).wrapping_sub(start);
    Room::Bytes(live.size.saturating_sub(into))
}

/// Reports that `function` was about to touch `len` bytes at `p`, where there are fewer. Ends the process unless
/// `ALLOD_ABORT=0`.
#[cold]
#[inline(never)]
pub fn refuse(function: &'static str, p: *const u8, len: usize, room: Room) {
    let room = if let Room::Bytes(room) = room { room } else { 0 };
    misuse(function, p, Misuse::OutOfBounds { len, room });
}
