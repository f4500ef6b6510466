//! Budgets: limits on the memory in use by a tag, a thread, the program (feature `budgets`).
//!
//! In use is memory allocated in frames that have not ended. An allocation is charged to the current
//! tag, to the tags it is part of, to the thread and to the program. A frame's charge is recorded in
//! the frame itself, like a [registered drop](crate::Frame::alloc_drop), so it is put back when the
//! frame or scope ends, is rolled back, or is dropped by another thread.
//!
//! ```text
//!  allocation -> credit of (thread, tag)     one compare, no atomic read-modify-write
//!                  | used up
//!                  v
//!                tag -> tags above -> thread -> program      one compare-and-swap each
//! ```
//!
//! **Credit.** Far from every limit a thread reserves more than it needs (1/32 of the room up to the
//! next limit, at most 64 KiB) and allocates from that. Within 128 KiB of a limit it reserves
//! exactly. So limits are exact for one thread; with several threads a limit may take effect
//! earlier, by the amounts that the others have reserved for each of their tags, but never later.

mod account;
mod event;
mod in_use;

pub use account::Limits;
pub use event::{Event, Level, Whose, on_event, refused};
pub(crate) use event::{memory_is_out, panic_if_refused};

use crate::drops::Entry;
use crate::located::Here;
use crate::raw::RawFrame;
use crate::rows::row_a_thread;
use crate::tags::{self, MAX_TAGS, Tag};
use account::Account;
use allod_frame_core::OutOfMemory;
use allod_heap::sampling;
use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The most that a thread reserves ahead for one tag.
const MOST: usize = 64 << 10;
/// The least that is reserved ahead.
const LEAST: usize = 4 << 10;

/// Whose budget [`set`], [`limits`] and [`used`] are about.
#[derive(Clone, Copy, Debug)]
pub enum Of<'a> {
    /// That of a tag and its parts.
    Tag(&'a Tag),
    /// That of the calling thread; it ends with the thread.
    Thread,
    /// That of the whole program.
    Program,
}

static TAGS: [Account; MAX_TAGS] = [const { Account::new() }; MAX_TAGS];
static PROGRAM: Account = Account::new();
/// Counts changes of limits; credits from before a change are put back before they are used.
static CHANGES: AtomicUsize = AtomicUsize::new(0);

/// The memory that a thread has reserved for one tag and not allocated.
struct Slot {
    /// Written by its thread alone.
    credit: AtomicUsize,
    /// The most that is to be held: the allowance when it was last reserved.
    most: AtomicUsize,
    tag: usize,
}

/// A thread's account and its credit with the others'.
#[repr(C)]
struct Purse {
    /// First, so that a slot's address and tag give the purse's.
    slots: [Slot; MAX_TAGS],
    thread: Account,
    /// The changes of limits that the credits know of.
    changes: AtomicUsize,
}

impl Default for Purse {
    fn default() -> Purse {
        Purse {
            slots: core::array::from_fn(|tag| Slot {
                credit: AtomicUsize::new(0),
                most: AtomicUsize::new(0),
                tag,
            }),
            thread: Account::new(),
            changes: AtomicUsize::new(0),
        }
    }
}

row_a_thread!(PURSES: Purse, fit |purse| purse.thread.used() == 0, leave |purse| {
    purse.settle();
    purse.thread.set(Limits::none());
});

/// Replaces the limits of a budget; from any thread, at any time.
///
/// Memory already in use stays; if it exceeds the hard limit, allocations are refused until
/// enough is freed.
///
/// ```
/// use allod_frame::{Arena, budgets::{self, Limits, Of}, tags::Tag};
/// static AI: Tag = Tag::new("ai-with-a-budget");
/// budgets::set(Of::Tag(&AI), Limits::none().hard(1000));
///
/// let mut arena = Arena::new();
/// for _ in 0..10 {
///     arena.frame(|f| AI.with(|| {
///         f.alloc([0u8; 900]);
///         assert!(f.try_alloc([0u8; 200]).is_err());
///         let refused = budgets::refused().unwrap();
///         assert_eq!((refused.used, refused.limit, refused.asked), (900, 1000, 200));
///     }));
///     assert_eq!(budgets::used(Of::Tag(&AI)), 0); // the frame has ended
/// }
/// ```
///
/// # Panics
/// When the program has too many tags, as [`Tag::enter`].
pub fn set(of: Of<'_>, limits: Limits) {
    with_account(of, |account| account.set(limits));
    CHANGES.fetch_add(1, Relaxed);
}

/// The limits of a budget.
///
/// # Panics
/// As [`set`].
#[must_use]
pub fn limits(of: Of<'_>) -> Limits {
    with_account(of, Account::limits).unwrap_or_default()
}

/// A budget's bytes in use, without those that threads have reserved. Exact if no thread is
/// allocating.
///
/// # Panics
/// As [`set`].
#[must_use]
pub fn used(of: Of<'_>) -> usize {
    let which = match of {
        Of::Tag(tag) => Which::Tag(tag.row()),
        Of::Thread => Which::Thread,
        Of::Program => Which::Program,
    };
    in_use(which, with_account(of, Account::used).unwrap_or(0))
}

/// What is in use of an account that has taken so many bytes.
fn in_use(which: Which, taken: usize) -> usize {
    let here = own();
    let mut reserved = 0;
    PURSES.each(|purse| {
        let within = |slot: &&Slot| match which {
            Which::Tag(row) => with_wholes(slot.tag).any(|tag| tag == row),
            Which::Thread => here.is_some_and(|here| ptr::eq(here, purse)),
            Which::Program => true,
        };
        let credits = purse.slots.iter().filter(within);
        reserved += credits.map(|slot| slot.credit.load(Relaxed)).sum::<usize>();
    });
    taken.saturating_sub(reserved)
}

fn with_account<R>(of: Of<'_>, work: impl FnOnce(&Account) -> R) -> Option<R> {
    match of {
        Of::Tag(tag) => Some(work(&TAGS[tag.row()])),
        Of::Thread => own().map(|purse| work(&purse.thread)),
        Of::Program => Some(work(&PROGRAM)),
    }
}

/// A tag and those it is a part of.
fn with_wholes(tag: usize) -> impl Iterator<Item = usize> {
    let wholes = core::iter::successors(Some(tag), |tag| Some(tags::parent(*tag)));
    wholes.take_while(|tag| *tag != 0)
}

impl Purse {
    fn slot(&self, tag: usize) -> *const Slot {
        // Derived from the whole purse, so that `Purse::of` may go back.
        ptr::from_ref(self).cast::<Slot>().wrapping_add(tag)
    }

    /// The purse of a slot.
    ///
    /// # Safety
    /// The slot came from [`Purse::slot`].
    unsafe fn of(slot: *const Slot) -> &'static Purse {
        // SAFETY: slots come first and in the order of tags; purses are never freed.
        unsafe { &*slot.sub((*slot).tag).cast::<Purse>() }
    }

    /// Whether there is credit for an allocation, from after the last change of limits.
    #[inline(always)]
    fn has_credit(&self, tag: usize, bytes: usize) -> bool {
        self.slots[tag].credit.load(Relaxed) >= bytes
            && self.changes.load(Relaxed) == CHANGES.load(Relaxed)
    }

    /// The accounts that an allocation under a tag is charged to.
    fn accounts(&self, tag: usize) -> impl Iterator<Item = (Which, &Account)> {
        let tags = with_wholes(tag).map(|tag| (Which::Tag(tag), &TAGS[tag]));
        tags.chain([(Which::Thread, &self.thread), (Which::Program, &PROGRAM)])
    }

    /// What may be reserved ahead for a tag.
    fn allowance(&self, tag: usize) -> usize {
        let room = self.accounts(tag).map(|(_, account)| account.room()).min();
        let ahead = (room.unwrap_or(0) / 32).min(MOST);
        if ahead < LEAST { 0 } else { ahead }
    }

    /// Reserves bytes in all accounts of a tag, or returns the one that refused.
    fn take(&self, tag: usize, bytes: usize) -> Result<(), Which> {
        let may_exceed = event::inside();
        for (at, (whose, account)) in self.accounts(tag).enumerate() {
            if !account.take(bytes, may_exceed) {
                self.accounts(tag).take(at).for_each(|(_, account)| account.give(bytes));
                return Err(whose);
            }
        }
        let credit = &self.slots[tag].credit;
        credit.store(credit.load(Relaxed) + bytes, Relaxed);
        Ok(())
    }

    /// Puts bytes back in all accounts of a tag.
    fn give(&self, tag: usize, bytes: usize) {
        self.accounts(tag).for_each(|(_, account)| account.give(bytes));
    }

    /// Puts all credit back; the purse's own thread calls this.
    fn settle(&self) {
        for slot in &self.slots {
            let credit = slot.credit.load(Relaxed);
            slot.most.store(0, Relaxed);
            if credit != 0 {
                slot.credit.store(0, Relaxed);
                self.give(slot.tag, credit);
            }
        }
    }

    /// Credit of at least `bytes` for a tag.
    fn reserve(&self, tag: usize, bytes: usize) -> Result<(), Which> {
        sampling::add_part(&in_use::PART);
        let changes = CHANGES.load(Relaxed);
        if self.changes.swap(changes, Relaxed) != changes {
            self.settle();
        }
        let credit = self.slots[tag].credit.load(Relaxed);
        if credit >= bytes {
            return Ok(());
        }
        let ahead = self.allowance(tag);
        self.slots[tag].most.store(ahead, Relaxed);
        self.take(tag, ahead.max(bytes - credit)).or_else(|_| {
            // This thread's reservations for other tags may be what is missing.
            self.settle();
            self.take(tag, bytes)
        })
    }
}

/// Charges an allocation to its budgets, or refuses it.
#[inline(always)]
pub(crate) fn charge(frame: &RawFrame, bytes: usize, here: Here) -> Result<(), OutOfMemory> {
    let Some(purse) = own() else { return Ok(()) };
    let tag = tags::current();
    if charge_credit(frame, purse, tag, bytes) {
        return Ok(());
    }
    charge_anew(frame, purse, tag, bytes, here)
}

/// Charges the credit, if the frame's newest charge is of this thread and tag and there is enough.
#[inline(always)]
fn charge_credit(frame: &RawFrame, purse: &Purse, tag: usize, bytes: usize) -> bool {
    let newest = frame.drops.get();
    if !purse.has_credit(tag, bytes) || !is_charge(newest, purse.slot(tag)) {
        return false;
    }
    let credit = &purse.slots[tag].credit;
    credit.store(credit.load(Relaxed) - bytes, Relaxed);
    // SAFETY: a live entry of this frame, and no user's, for its value is a slot.
    unsafe { (*newest).count += bytes };
    true
}

#[inline(always)]
fn is_charge(newest: *mut Entry, slot: *const Slot) -> bool {
    // SAFETY: null or a live entry.
    !newest.is_null() && unsafe { (*newest).value.cast_const().cast() == slot }
}

/// Charges a frame that has no entry of this thread and tag yet, or a thread without credit.
#[inline(never)]
fn charge_anew(
    frame: &RawFrame,
    purse: &'static Purse,
    tag: usize,
    bytes: usize,
    here: Here,
) -> Result<(), OutOfMemory> {
    if !purse.has_credit(tag, bytes) {
        reserve_or_tell(purse, tag, bytes, here)?;
    }
    enter(frame, purse, tag, here)?;
    // The callback may have used or settled the credit: what it left is made up without a limit.
    let credit = purse.slots[tag].credit.load(Relaxed);
    if credit < bytes {
        for (_, account) in purse.accounts(tag) {
            account.take(bytes - credit, true);
        }
    }
    purse.slots[tag].credit.store(credit.saturating_sub(bytes), Relaxed);
    // SAFETY: entered above.
    unsafe { (*frame.drops.get()).count += bytes };
    Ok(())
}

/// Reserves credit, and calls the callback if a limit is exceeded.
#[cold]
#[inline(never)]
fn reserve_or_tell(
    purse: &'static Purse,
    tag: usize,
    bytes: usize,
    here: Here,
) -> Result<(), OutOfMemory> {
    let event = |(which, account): (Which, &Account), level, limit| Event {
        whose: which.named(),
        level,
        used: in_use(which, account.used()),
        limit,
        asked: bytes,
        tag: tags::name(tag),
        location: here.0,
    };
    if let Err(refused) = purse.reserve(tag, bytes) {
        if let Some(by) = purse.accounts(tag).find(|(which, _)| *which == refused) {
            event::tell(&event(by, Level::Hard, by.1.hard()));
        }
        return Err(OutOfMemory);
    }
    for by in purse.accounts(tag) {
        if let Some(soft) = by.1.newly_exceeded() {
            event::tell(&event(by, Level::Soft, soft));
        }
    }
    Ok(())
}

/// Makes the frame's newest entry a charge of this thread and tag.
fn enter(frame: &RawFrame, purse: &Purse, tag: usize, here: Here) -> Result<(), OutOfMemory> {
    let slot = purse.slot(tag);
    if !is_charge(frame.drops.get(), slot) {
        let Some(room) = frame.take(size_of::<Entry>(), align_of::<Entry>(), here) else {
            memory_is_out();
            return Err(OutOfMemory);
        };
        frame.enter(room.cast(), |stamp, older| Entry {
            older,
            stamp,
            value: slot.cast_mut().cast(),
            count: 0,
            drop: put_back,
        });
    }
    Ok(())
}

/// Puts a charge back: the drop of its entry. To the credit, if that is the calling thread's own.
///
/// # Safety
/// The value is a slot.
unsafe fn put_back(slot: *mut u8, bytes: usize) {
    let slot = slot.cast_const().cast::<Slot>();
    // SAFETY: the caller's contract.
    let (purse, tag) = unsafe { (Purse::of(slot), (*slot).tag) };
    if !own().is_some_and(|own| ptr::eq(own, purse)) {
        return purse.give(tag, bytes);
    }
    let credit = &purse.slots[tag].credit;
    let all = credit.load(Relaxed) + bytes;
    if all <= purse.slots[tag].most.load(Relaxed) {
        credit.store(all, Relaxed);
    } else {
        credit.store(0, Relaxed);
        purse.give(tag, all);
    }
}

/// Changes the charge of the newest block from `old` bytes to `new`; false when that cannot be done
/// in place, for want of budget or because the tag is another.
#[inline]
pub(crate) fn recharge(frame: &RawFrame, old: usize, new: usize) -> bool {
    let Some(purse) = own() else { return true };
    let tag = tags::current();
    if new > old {
        return charge_credit(frame, purse, tag, new - old)
            || is_charge(frame.drops.get(), purse.slot(tag))
                && purse.reserve(tag, new - old).is_ok()
                && charge_credit(frame, purse, tag, new - old);
    }
    let newest = frame.drops.get();
    if is_charge(newest, purse.slot(tag)) {
        // SAFETY: a live entry of this frame; never more is put back than it holds.
        unsafe {
            let bytes = (old - new).min((*newest).count);
            (*newest).count -= bytes;
            put_back((*newest).value, bytes);
        }
    }
    true
}

/// How much of a frame's newest entry a checkpoint keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Charged(usize);

/// The count of the newest entry.
///
/// # Safety
/// `newest` is null or a live entry.
pub(crate) unsafe fn charged(newest: *mut Entry) -> Charged {
    // SAFETY: the caller's contract.
    Charged(NonNull::new(newest).map_or(0, |entry| unsafe { entry.as_ref().count }))
}

/// Puts back what the newest entry was charged since a checkpoint, whose newest entry had the stamp.
/// Only charges ever grow, so any other entry is left as it is; and so is one of another stamp, for
/// the checkpoint's was undone and its count is not this one's.
///
/// # Safety
/// `newest` is null or a live entry.
pub(crate) unsafe fn restore(newest: *mut Entry, stamp: u64, to: Charged) {
    // SAFETY: the caller's contract; a stamp is one entry's.
    unsafe {
        if !newest.is_null() && (*newest).stamp == stamp && (*newest).count > to.0 {
            let more = (*newest).count - to.0;
            (*newest).count = to.0;
            ((*newest).drop)((*newest).value, more);
        }
    }
}

/// Which account, by row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Tag(usize),
    Thread,
    Program,
}

impl Which {
    fn named(self) -> Whose {
        match self {
            Which::Tag(row) => Whose::Tag(tags::name(row)),
            Which::Thread => Whose::Thread,
            Which::Program => Whose::Program,
        }
    }
}
