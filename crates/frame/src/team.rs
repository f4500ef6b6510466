//! One begin and one end for the frames of all threads.

use crate::aids;
use crate::drops::{self, Entry};
use crate::error::{OutOfMemory, or_panic};
use crate::frame::Frame;
use crate::guard::FrameGuard;
use crate::open::Open;
use crate::sync::{AtomicPtr, Ordering};
use crate::thread;
use allod_frame_core::chunk::{self, Core};
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::{self, NonNull};

/// Segment `k` of the table holds `32 << k` slots, so 12 hold [`thread::MAX_THREADS`].
const SEGMENTS: usize = 12;
const FIRST: usize = 32;

/// A thread's slot in a team: its arena, and its frame's position between two visits.
#[repr(align(64))]
struct Slot {
    core: *mut Core,
    /// Null when the thread has not been in this frame.
    cursor: *mut u8,
    limit: *mut u8,
    drops: *mut Entry,
    /// The thread is inside; a visit within a visit takes the next slot.
    busy: bool,
    next: *mut Slot,
}

/// Arenas of many threads whose frames begin and end together.
///
/// [`frame`](Team::frame) opens a frame for all; inside, any thread (scoped threads, rayon's
/// workers) enters its own arena by [`Workers::with`], found by the thread's number in a table: no
/// lock, no hashing. What threads allocate lives until the team's frame ends, so it may be passed
/// between them. The end is a barrier: the borrow checker allows it only when no thread can be
/// inside.
///
/// ```
/// use allod_frame::Team;
/// let mut team = Team::new();
/// for _ in 0..3 {
///     let total: usize = team.frame(|workers| {
///         let parts: Vec<&mut [usize]> = std::thread::scope(|s| {
///             let threads: Vec<_> = (0..4)
///                 .map(|t| s.spawn(move || workers.with(|f| f.alloc_slice_fill(100, t))))
///                 .collect();
///             threads.into_iter().map(|t| t.join().unwrap()).collect()
///         });
///         // The threads have ended; what they allocated has not.
///         parts.iter().map(|part| part.iter().sum::<usize>()).sum()
///     });
///     assert_eq!(total, 600);
/// }
/// ```
pub struct Team {
    segments: [AtomicPtr<Slot>; SEGMENTS],
}

// SAFETY: a slot is used by the thread of its number alone while a frame is open, and by the team's
// owner when none is; numbers pass between threads through a lock.
unsafe impl Send for Team {}
// SAFETY: as for Send: shared, a team only gives out each thread's own slot.
unsafe impl Sync for Team {}

/// A team's open frame, shared by its threads. `'env` is the world around it, as in
/// [`Open`](crate::Open).
pub struct Workers<'f, 'env: 'f> {
    team: &'f Team,
    lifetime: PhantomData<fn(&'f ()) -> &'f ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl Team {
    /// A team without arenas; each thread's is created at its first visit.
    #[must_use]
    pub fn new() -> Team {
        Team { segments: core::array::from_fn(|_| AtomicPtr::new(ptr::null_mut())) }
    }

    /// Opens the frame of all threads, runs `work`, and ends all their frames.
    ///
    /// Values registered for drop are dropped by the calling thread, each thread's newest first.
    pub fn frame<'env, R>(&mut self, work: impl for<'f> FnOnce(&'f Workers<'f, 'env>) -> R) -> R {
        struct End<'a>(&'a mut Team);
        impl Drop for End<'_> {
            fn drop(&mut self) {
                self.0.end_frame();
            }
        }
        let end = End(self);
        work(&Workers { team: end.0, lifetime: PhantomData, env: PhantomData })
    }

    /// Enters the calling thread's arena without a closure: for engines that open and end frames
    /// themselves. What it allocates lives as long as the team is borrowed, that is, until the next
    /// [`end_frame`](Team::end_frame). About 3 ns.
    ///
    /// # Panics
    /// When memory is out.
    ///
    /// ```
    /// use allod_frame::Team;
    /// let mut team = Team::new();
    /// let numbers = {
    ///     let frame = team.enter();
    ///     frame.alloc_slice_fill(100, 1)
    /// };
    /// assert_eq!(numbers.iter().sum::<i32>(), 100);
    /// team.end_frame();
    /// ```
    #[inline]
    #[must_use]
    pub fn enter(&self) -> Entered<'_> {
        Entered(or_panic(self.visit()))
    }

    /// Ends the frames of all threads. Values registered for drop are dropped by the calling thread,
    /// each thread's newest first.
    ///
    /// ```compile_fail
    /// let mut team = allod_frame::Team::new();
    /// let number = team.enter().alloc(1);
    /// team.end_frame();
    /// *number += 1; // does not compile: the frame has ended
    /// ```
    pub fn end_frame(&mut self) {
        /// The frames of the other threads end even if a drop panics.
        struct Rest<'a>(&'a Team);
        impl Drop for Rest<'_> {
            fn drop(&mut self) {
                // SAFETY: as below.
                unsafe { self.0.end_slots() };
            }
        }
        let rest = Rest(self);
        // SAFETY: the team is borrowed exclusively: every visit and every value is gone.
        unsafe { rest.0.end_slots() };
        core::mem::forget(rest);
    }

    /// Ends the frames that have not ended yet.
    ///
    /// # Safety
    /// No thread is inside, and no value is used any more.
    unsafe fn end_slots(&self) {
        // SAFETY: the caller's contract; a slot's frame has ended before its drops run.
        self.each_slot(|slot| unsafe {
            let drops = (*slot).drops;
            let end = ((*slot).cursor, (*slot).limit);
            (*slot).drops = ptr::null_mut();
            (*slot).cursor = ptr::null_mut();
            // Left by a visit whose guard was forgotten.
            (*slot).busy = false;
            if !drops.is_null() {
                drops::run(drops, 0);
            }
            if !end.0.is_null() {
                let core = NonNull::new_unchecked((*slot).core);
                // A frame that only used scopes may still be at the position from before its arena's
                // first chunk.
                let nothing = end.1 == chunk::empty();
                let start = if nothing { end } else { (core.as_ref().cursor, core.as_ref().limit) };
                aids::ended(core, start, end);
            }
        });
    }

    /// The bytes kept by the arenas of all threads.
    #[must_use]
    pub fn reserved(&mut self) -> usize {
        let mut bytes = 0;
        self.each_slot(|slot| {
            // SAFETY: no frame is open, so the slots are ours.
            unsafe { bytes += (*slot).core.as_ref().map_or(0, |core| core.reserved) };
        });
        bytes
    }

    /// Frees every arena and slot.
    ///
    /// # Safety
    /// No frame is open, and the team is not used again.
    unsafe fn free(&mut self) {
        // SAFETY: the caller's contract; every arena and slot is freed once.
        unsafe {
            self.each_slot(|slot| {
                if let Some(core) = NonNull::new((*slot).core) {
                    Core::destroy(core);
                }
            });
            for (k, segment) in self.segments.iter().enumerate() {
                let segment = segment.load(Ordering::Acquire);
                if segment.is_null() {
                    continue;
                }
                for i in 0..FIRST << k {
                    let mut more = (*segment.add(i)).next;
                    while !more.is_null() {
                        let next = (*more).next;
                        allod_heap::free(more.cast());
                        more = next;
                    }
                }
                allod_heap::free(segment.cast());
            }
        }
    }

    /// Calls `visit` with every slot. No thread may be inside.
    fn each_slot(&self, mut visit: impl FnMut(*mut Slot)) {
        for (k, segment) in self.segments.iter().enumerate() {
            let segment = segment.load(Ordering::Acquire);
            for i in 0..if segment.is_null() { 0 } else { FIRST << k } {
                let mut slot = segment.wrapping_add(i);
                while !slot.is_null() {
                    // SAFETY: slots are in use as long as the team is.
                    let next = unsafe { (*slot).next };
                    visit(slot);
                    slot = next;
                }
            }
        }
    }

    /// The slot of a thread's number.
    #[inline]
    fn slot(&self, index: usize) -> Result<*mut Slot, OutOfMemory> {
        let k = (index / FIRST + 1).ilog2() as usize;
        let mut segment = self.segments[k].load(Ordering::Acquire);
        if segment.is_null() {
            segment = install(&self.segments[k], FIRST << k)?;
        }
        Ok(segment.wrapping_add(index + FIRST - (FIRST << k)))
    }

    /// A visit to the calling thread's frame.
    #[inline]
    fn visit(&self) -> Result<Visit<'_>, OutOfMemory> {
        let slot = self.idle_slot()?;
        // SAFETY: the slot is this thread's and not busy; its position is of its own arena.
        unsafe {
            (*slot).busy = true;
            let core = NonNull::new_unchecked((*slot).core);
            let frame = if (*slot).cursor.is_null() {
                Frame::start(core)
            } else {
                Frame::resume(core, ((*slot).cursor, (*slot).limit), (*slot).drops)
            };
            Ok(Visit { frame, slot })
        }
    }

    /// The calling thread's first slot that it is not already inside, with an arena.
    #[inline]
    fn idle_slot(&self) -> Result<*mut Slot, OutOfMemory> {
        let mut slot = self.slot(thread::index()?)?;
        // SAFETY: the slots of this thread's number are touched by this thread alone.
        unsafe {
            while (*slot).busy {
                if (*slot).next.is_null() {
                    (*slot).next = new_slots(1)?;
                }
                slot = (*slot).next;
            }
            if (*slot).core.is_null() {
                (*slot).core = Core::create().ok_or(OutOfMemory)?.as_ptr();
            }
        }
        Ok(slot)
    }
}

impl Default for Team {
    fn default() -> Self {
        Team::new()
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        struct Memory<'a>(&'a mut Team);
        impl Drop for Memory<'_> {
            fn drop(&mut self) {
                // SAFETY: the team goes, and no frame is open.
                unsafe { self.0.free() };
            }
        }
        // The memory is given back even if a drop panics.
        Memory(self).0.end_frame();
    }
}

/// Puts a segment of `n` slots in its place unless another thread was faster.
#[cold]
fn install(place: &AtomicPtr<Slot>, n: usize) -> Result<*mut Slot, OutOfMemory> {
    let new = new_slots(n)?;
    match place.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => Ok(new),
        Err(theirs) => {
            // SAFETY: made above and seen by nobody.
            unsafe { allod_heap::free(new.cast()) };
            Ok(theirs)
        }
    }
}

/// A block of the heap with `n` new slots.
#[cold]
fn new_slots(n: usize) -> Result<*mut Slot, OutOfMemory> {
    let slots = allod_heap::aligned_alloc(align_of::<Slot>(), n * size_of::<Slot>()).cast::<Slot>();
    if slots.is_null() {
        return Err(OutOfMemory);
    }
    for i in 0..n {
        // SAFETY: within the new block, which is aligned for slots.
        unsafe { slots.add(i).write(Slot::new()) };
    }
    Ok(slots)
}

impl Slot {
    fn new() -> Slot {
        Slot {
            core: ptr::null_mut(),
            cursor: ptr::null_mut(),
            limit: ptr::null_mut(),
            drops: ptr::null_mut(),
            busy: false,
            next: ptr::null_mut(),
        }
    }
}

/// A visit to a slot; its end puts the frame's position back.
struct Visit<'f> {
    frame: Frame<'f>,
    slot: *mut Slot,
}

impl Drop for Visit<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the slot is this thread's.
        unsafe {
            ((*self.slot).cursor, (*self.slot).limit) = self.frame.raw.position();
            (*self.slot).drops = self.frame.raw.drops.get();
            (*self.slot).busy = false;
        }
    }
}

/// The calling thread's frame of a team, until this is dropped. See [`Team::enter`].
///
/// It stays on its thread; what it allocates may move if its type may. Entering again before it is
/// dropped uses another arena.
///
/// ```compile_fail
/// let team = allod_frame::Team::new();
/// let frame = team.enter();
/// std::thread::scope(|s| { s.spawn(|| *frame.alloc(1)); }); // does not compile: not `Sync`
/// ```
pub struct Entered<'t>(Visit<'t>);

impl<'t> Entered<'t> {
    /// Runs `work` in a scope of this frame: what it allocates is freed when it returns, and may
    /// refer to the surroundings.
    #[inline]
    pub fn scope<'env, R>(&mut self, work: impl for<'s> FnOnce(&'s mut Open<'s, 'env>) -> R) -> R {
        let mut guard = self.0.frame.nested();
        // SAFETY: the scope's lifetime is the closure's own, so it cannot be exchanged for another.
        work(unsafe { guard.frame_mut() })
    }
}

// No `DerefMut`: the frames of two threads could be exchanged.
impl<'t> Deref for Entered<'t> {
    type Target = Frame<'t>;
    #[inline]
    fn deref(&self) -> &Frame<'t> {
        &self.0.frame
    }
}

impl fmt::Debug for Entered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entered").field(&self.0.frame).finish()
    }
}

impl<'f> Workers<'f, '_> {
    /// Runs `work` in the calling thread's frame; what it allocates lives until the team's frame
    /// ends. About 3 ns. Visits may nest.
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn with<R>(&self, work: impl FnOnce(&Frame<'f>) -> R) -> R {
        or_panic(self.try_with(work))
    }

    /// [`with`](Workers::with) that returns an error when there is no memory for the thread's arena.
    ///
    /// # Errors
    /// When memory is out; `work` is not called then.
    #[inline]
    pub fn try_with<R>(&self, work: impl FnOnce(&Frame<'f>) -> R) -> Result<R, OutOfMemory> {
        Ok(work(&self.visit()?.frame))
    }

    /// Runs `work` in a scope of the calling thread's frame: what it allocates is freed when it
    /// returns.
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn scope<R>(&self, work: impl for<'s> FnOnce(&'s mut Open<'s, 'f>) -> R) -> R {
        let visit = or_panic(self.visit());
        let (core, position) = (visit.frame.raw.core, visit.frame.raw.position());
        // SAFETY: the visit's frame is not used before the scope has ended.
        let scope = unsafe { Frame::resume(core, position, ptr::null_mut()) };
        let mut guard = FrameGuard::new(scope);
        // SAFETY: the scope's lifetime is the closure's own.
        work(unsafe { guard.frame_mut() })
    }

    #[inline]
    fn visit(&self) -> Result<Visit<'f>, OutOfMemory> {
        self.team.visit()
    }
}
