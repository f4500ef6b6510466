//! Huge pages: when fresh memory is asked for 2 MiB at a time.
//!
//! A huge page costs one fault and one clearing where 512 pages cost 512 faults: a quarter of the time
//! or less, if the memory is used densely; if it is not, memory is wasted. So with
//! `ALLOD_HUGEPAGES=2`, the default, the window is marked as not wanting them (`MADV_NOHUGEPAGE`), and whole,
//! aligned **pieces** of it are made huge one by one:
//!
//! ```text
//!   take: dirty runs first ──▶ none ──▶ plan ─┬─ Small: clean units, small pages, noted as a sample
//!                                             ├─ Look: are the last samples resident throughout?
//!                                             └─ Ask: a clean piece is made resident as one huge page
//!                                                     (no lock held), filed as dirty, and cut from
//! ```
//! - **Only in large heaps**: while spans hold less than [`FROM`], not counting room to grow, there are none.
//! - **Only where memory is used densely.** The last pieces of small pages are samples: if of what is in use
//!   there 3 of 4 pages are resident ([`density`](super::density)), the next few pieces are huge, then come samples
//!   again. Dirty runs are taken first, so a piece is filled before the next is made.
//! - **Slabs of blocks up to a page need neither** once their heap has 3 MiB of them ([`Need::slab`]): whoever writes
//!   to such blocks writes to all pages. Programs that keep 5 to 50 MiB in small
//!   blocks run up to a fifth faster, and take 0 to 4 MiB more. A heap's first slabs are sparse, for each class
//!   has one; so it counts what each heap has, not what all threads' heaps have together.
//! - **Only while it pays.** Each request is timed and checked. When the kernel stalls (it compacts memory, or a
//!   host must find some) or declines, the heap stops asking for one second, then two, four, ..., and for good
//!   after [`MOST_PAUSES`].
//! - A huge page goes back whole at once, when all of it is free; a part of one only when it has been
//!   free for long ([`PATIENCE`]), or the page has become sparse.
//!
//! Filling huge pages densely and giving back whole ones first follows Hunter et al., "Beyond malloc
//! efficiency to fleet efficiency: a hugepage-aware memory allocator" (OSDI 2021).

use crate::base::layout::{PIECE, UNIT, Unit};
use crate::base::settings;
use crate::map::bin::FREE;
use crate::map::span_map::MAP;
use allod_os::{clock, vm};
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Units in spans from which on huge pages are asked for: 8 MiB,
const FROM: usize = 4 * PIECE;
/// Units in slabs of small blocks of one heap from which on further ones are sure to be used densely: 3 MiB.
const DENSE_FROM: usize = PIECE + PIECE / 2;
/// The most bytes of small blocks.
const SMALL: usize = 4096;
/// The longest span for which they are asked for: 8 MiB. A longer one is often a buffer of which only a part is used.
pub const MOST_UNITS: usize = 4 * PIECE;
/// Parts of huge pages go back after this many times the decay,
pub const PATIENCE: u32 = 8;
/// unless that many units of the piece are free.
const SPARSE: usize = PIECE / 4;

/// Samples that are kept. The newest is still being filled, and not looked at.
const SAMPLES: usize = 4;
/// Units taken in small pages between two looks, after a dense one.
const LOOK_AFTER: usize = PIECE / 2;
/// The most such units, after many looks that were not dense.
const LOOK_AFTER_AT_MOST: usize = 32 * PIECE;
/// Pieces that may be made huge after a look: a quarter of the heap, within these bounds.
const GRANTED_AT_LEAST: usize = 8;
const GRANTED_AT_MOST: usize = 32;

/// A request that takes longer than this has stalled, in microseconds: about ten times what clearing takes.
const SLOW: u64 = 2000;
/// Stalls within [`FORGET_AFTER`] requests after which there is a pause.
const MOST_SLOW: u32 = 3;
const FORGET_AFTER: u32 = 64;
/// The first pause, in milliseconds.
const FIRST_PAUSE: u32 = 1000;
/// Pauses after which the heap stops asking.
const MOST_PAUSES: u32 = 8;

/// Units that a span needs.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// How many.
    pub units: usize,
    /// All of them will soon be in use.
    dense: bool,
}

impl Need {
    /// Units of which nobody knows how much of them will be used.
    pub const fn any(units: usize) -> Need {
        Need { units, dense: false }
    }

    /// Units of a slab of blocks of `size` bytes, for a heap with `used` units in slabs of [small](is_small) ones.
    pub const fn slab(units: usize, size: usize, used: usize) -> Need {
        Need { units, dense: is_small(size) && used >= DENSE_FROM }
    }

    /// True when huge pages may serve it, where `held` units are held.
    const fn is_served(self, held: usize) -> bool {
        self.dense || held >= FROM
    }
}

/// True when blocks of `size` bytes leave no page between them untouched.
pub const fn is_small(size: usize) -> bool {
    size <= SMALL
}

/// What to do when fresh memory is needed.
#[derive(Clone, Copy)]
pub enum Plan {
    /// Take small pages.
    Small,
    /// Look at samples, then decide.
    Look(Samples),
    /// Make pieces huge.
    Ask,
}

/// Pieces in which units were taken in small pages; none where the unit is none.
pub type Samples = [Unit; SAMPLES];

/// How a request for a huge page went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// A huge page was made quickly.
    Quick,
    /// A huge page was made, but it took long.
    Slow,
    /// There are only small pages.
    Declined,
}

/// Whether huge pages are asked for. Guarded by the source's lock.
pub struct Policy {
    samples: Samples,
    newest: usize,
    /// Units taken in small pages since the last look.
    sampled: usize,
    /// Units that are due before the next look.
    look_after: usize,
    /// Pieces that may be made huge before the next look.
    left: usize,
    /// How many there were after the last look.
    granted: usize,
    /// Stalls, and requests, since stalls were last forgotten.
    slow: u32,
    asked: u32,
    pauses: u32,
    paused_until: Option<u32>,
    /// A piece was due, but could not be asked for: until small pages have been handed out instead.
    passed_over: bool,
}

impl Policy {
    /// Nothing is known yet.
    pub const fn new() -> Policy {
        Policy {
            samples: [Unit::NONE; SAMPLES],
            newest: 0,
            sampled: 0,
            look_after: LOOK_AFTER,
            left: 0,
            granted: 0,
            slow: 0,
            asked: 0,
            pauses: 0,
            paused_until: None,
            passed_over: false,
        }
    }

    /// Notes that a span of small pages was handed out that were not resident.
    pub fn note_small(&mut self, unit: Unit, units: usize) {
        self.passed_over = false;
        self.sampled += units;
        if self.samples[self.newest] != piece_of(unit) {
            self.newest = (self.newest + 1) % SAMPLES;
            self.samples[self.newest] = piece_of(unit);
        }
    }

    /// True when the plan is not small pages, for a heap that holds `held` units.
    pub fn is_due(&mut self, need: Need, held: usize, now: u32) -> bool {
        need.is_served(held)
            && !self.passed_over
            && !self.is_paused(now)
            && (need.dense || self.left > 0 || self.sampled >= self.look_after)
    }

    /// What to do now, for a heap that holds `held` units. A look restarts the count of samples.
    pub fn plan(&mut self, need: Need, held: usize, now: u32) -> Plan {
        if !self.is_due(need, held, now) {
            return Plan::Small;
        }
        if need.dense || self.left > 0 {
            return Plan::Ask;
        }
        self.sampled = 0;
        let mut samples = self.samples;
        samples[self.newest] = Unit::NONE;
        Plan::Look(samples)
    }

    fn is_paused(&mut self, now: u32) -> bool {
        let paused = self.pauses >= MOST_PAUSES
            || self.paused_until.is_some_and(|until| (until.wrapping_sub(now) as i32) > 0);
        if !paused {
            self.paused_until = None;
        }
        paused
    }

    /// Notes what a look at the samples found.
    pub fn looked(&mut self, dense: bool, held: usize) {
        if dense {
            let most = (held / PIECE / 4).clamp(GRANTED_AT_LEAST, GRANTED_AT_MOST);
            self.granted = (self.granted * 2).clamp(GRANTED_AT_LEAST, most);
            self.left = self.granted;
            self.look_after = LOOK_AFTER;
        } else {
            self.granted = 0;
            self.look_after = (self.look_after * 2).min(LOOK_AFTER_AT_MOST);
        }
    }

    /// Notes that a piece was due, but could not be asked for at this moment.
    pub fn pass_over(&mut self) {
        self.left = self.left.saturating_sub(1);
        self.passed_over = true;
    }

    /// Notes how a request went.
    pub fn asked(&mut self, answer: Answer, now: u32) {
        self.left = self.left.saturating_sub(1);
        self.asked += 1;
        if self.asked > FORGET_AFTER {
            (self.asked, self.slow) = (0, 0);
        }
        self.slow += u32::from(answer == Answer::Slow);
        if answer == Answer::Declined || self.slow >= MOST_SLOW {
            self.paused_until = Some(now.wrapping_add(FIRST_PAUSE << self.pauses));
            // Requests in flight when a pause began may end in another.
            self.pauses = (self.pauses + 1).min(MOST_PAUSES);
            (self.asked, self.slow, self.left, self.granted) = (0, 0, 0, 0);
        }
    }
}

/// True when a span may come from huge pages, where `held` units are held.
pub fn serve(need: Need, held: usize) -> bool {
    need.is_served(held) && need.units <= MOST_UNITS && settings::HUGEPAGES.get() == 2
}

/// True once the kernel has been asked for huge pages everywhere (`ALLOD_HUGEPAGES=1`), also if it no longer is: what
/// was opened then keeps them.
static EVERYWHERE: AtomicBool = AtomicBool::new(false);

/// True when the kernel may have made huge pages where it chose to.
pub fn everywhere() -> bool {
    EVERYWHERE.load(Relaxed)
}

/// Applies the setting to newly opened units. Where the policy decides, they are marked as not wanting huge
/// pages, so that the kernel makes none of its own in the background.
pub fn advise_opened(at: usize, len: usize) {
    let wanted = settings::HUGEPAGES.get() == 1;
    if wanted {
        EVERYWHERE.store(true, Relaxed);
    }
    // SAFETY: the frontier has just opened this range of the window.
    unsafe { vm::advise_huge(at, len, wanted) };
}

/// Makes a piece resident as one huge page.
///
/// # Safety
/// The piece is the caller's, whole and aligned, and clean.
pub unsafe fn make(piece: Unit) -> Answer {
    let (at, len) = (MAP.address_of(piece), PIECE * UNIT);
    let start = clock::micros();
    // SAFETY: the piece is the caller's. Its advice is as before when this ends, so that the kernel's list of
    // mappings does not grow.
    let huge = unsafe {
        vm::advise_huge(at, len, true);
        (at as *mut u8).write_volatile(0);
        let huge = vm::is_resident(at + len - vm::page_size());
        vm::advise_huge(at, len, false);
        huge
    };
    match huge {
        false => Answer::Declined,
        true if clock::micros() - start > SLOW => Answer::Slow,
        true => Answer::Quick,
    }
}

/// The piece that a unit lies in.
pub fn piece_of(unit: Unit) -> Unit {
    unit - unit.index() % PIECE
}

/// True when a unit lies in a huge page that was made here and not broken since.
pub fn is_huge(unit: Unit) -> bool {
    // SAFETY: records of known units are committed; the flag may be read at any time.
    unsafe { (*MAP.span(piece_of(unit))).huge.load(Relaxed) }
}

/// Notes that the piece that a unit lies in is a huge page, or no longer is one.
pub fn set_huge(unit: Unit, huge: bool) {
    // SAFETY: as for `is_huge`.
    unsafe { (*MAP.span(piece_of(unit))).huge.store(huge, Relaxed) };
}

/// True when units that are due to go back lie in a huge page that is mostly in use.
pub fn is_spared(unit: Unit, units: usize) -> bool {
    units < PIECE
        && is_huge(unit)
        && (0..PIECE).filter(|&i| is_free(piece_of(unit) + i)).count() < SPARSE
}

/// True when a unit is in no span.
fn is_free(unit: Unit) -> bool {
    MAP.bin_of(MAP.address_of(unit) as *const u8).is_none_or(|bin| bin == FREE.entry())
}

/// Notes that none of the pieces that these units lie in is a huge page any longer.
pub fn forget(unit: Unit, units: usize) {
    let mut at = unit;
    while at < unit + units {
        if is_huge(at) {
            set_huge(at, false);
        }
        at = piece_of(at) + PIECE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LARGE: usize = 100 * PIECE;
    const ANY: Need = Need::any(1);

    fn with_samples() -> Policy {
        let mut policy = Policy::new();
        for i in 1..=SAMPLES {
            policy.note_small(Unit::new(i * PIECE), PIECE);
        }
        policy
    }

    fn is_ask(plan: Plan) -> bool {
        matches!(plan, Plan::Ask)
    }

    #[test]
    fn small_heaps_have_none() {
        let mut policy = with_samples();
        assert!(matches!(policy.plan(ANY, FROM - 1, 0), Plan::Small));
        assert!(matches!(policy.plan(ANY, FROM, 0), Plan::Look(_)));
    }

    #[test]
    fn slabs_of_a_heap_that_has_many_need_no_look() {
        let slab = |size, used| Policy::new().plan(Need::slab(1, size, used), used, 0);
        assert!(is_ask(slab(SMALL, DENSE_FROM)));
        assert!(matches!(slab(SMALL, DENSE_FROM - 1), Plan::Small));
        assert!(matches!(slab(SMALL + 1, DENSE_FROM), Plan::Small));
    }

    #[test]
    fn small_pages_serve_when_none_can_be_asked_for_now() {
        let mut policy = Policy::new();
        let need = Need::slab(1, SMALL, DENSE_FROM);
        assert!(is_ask(policy.plan(need, LARGE, 0)));
        policy.pass_over();
        assert!(matches!(policy.plan(need, LARGE, 0), Plan::Small));
        policy.note_small(Unit::new(1), 1);
        assert!(is_ask(policy.plan(need, LARGE, 0)));
    }

    #[test]
    fn nothing_is_concluded_without_samples() {
        let mut policy = Policy::new();
        assert!(matches!(policy.plan(ANY, LARGE, 0), Plan::Small));
    }

    #[test]
    fn the_newest_sample_is_left_out() {
        let mut policy = with_samples();
        policy.note_small(Unit::new(9 * PIECE), 1);
        policy.note_small(Unit::new(9 * PIECE + 1), 1);
        let Plan::Look(mut samples) = policy.plan(ANY, LARGE, 0) else { panic!("a look is due") };
        samples.sort();
        assert_eq!(samples, [0, 2, 3, 4].map(|piece| Unit::new(piece * PIECE)));
    }

    #[test]
    fn a_dense_program_gets_more_each_time_and_is_looked_at_again() {
        let mut policy = with_samples();
        for most in [8, 16, 25, 25, 25] {
            assert!(matches!(policy.plan(ANY, LARGE, 0), Plan::Look(_)));
            policy.looked(true, LARGE);
            let mut pieces = 0;
            while is_ask(policy.plan(ANY, LARGE, 0)) {
                policy.asked(Answer::Quick, 0);
                pieces += 1;
            }
            assert_eq!(pieces, most, "a quarter of 100 in the end");
            policy.note_small(Unit::new(1), LOOK_AFTER);
        }
    }

    #[test]
    fn a_sparse_program_is_looked_at_less_and_less() {
        let mut policy = with_samples();
        let mut last = 0;
        for _ in 0..10 {
            policy.note_small(Unit::new(1), policy.look_after);
            assert!(matches!(policy.plan(ANY, LARGE, 0), Plan::Look(_)));
            policy.looked(false, LARGE);
            assert!(policy.look_after >= last && policy.look_after <= LOOK_AFTER_AT_MOST);
            last = policy.look_after;
        }
        assert_eq!(last, LOOK_AFTER_AT_MOST);
    }

    #[test]
    fn stalls_and_refusals_pause_it_longer_each_time_and_end_it() {
        for (answer, times) in [(Answer::Slow, MOST_SLOW), (Answer::Declined, 1)] {
            let (mut policy, mut now) = (with_samples(), 0);
            for pause in 0..MOST_PAUSES {
                policy.sampled = LOOK_AFTER_AT_MOST;
                assert!(
                    matches!(policy.plan(ANY, LARGE, now), Plan::Look(_)),
                    "{answer:?} {pause}"
                );
                policy.looked(true, LARGE);
                policy.left = GRANTED_AT_MOST;
                for _ in 0..times {
                    assert!(is_ask(policy.plan(ANY, LARGE, now)));
                    policy.asked(answer, now);
                }
                policy.sampled = LOOK_AFTER_AT_MOST;
                now += FIRST_PAUSE << pause;
                assert!(
                    matches!(policy.plan(ANY, LARGE, now - 1), Plan::Small),
                    "{answer:?} {pause}"
                );
            }
            assert!(matches!(policy.plan(ANY, LARGE, now + 1_000_000), Plan::Small), "for good");
        }
    }

    #[test]
    fn answers_that_come_after_the_end_change_nothing() {
        let mut policy = with_samples();
        for _ in 0..100 {
            policy.asked(Answer::Declined, 0);
        }
        assert!(matches!(policy.plan(ANY, LARGE, 1_000_000), Plan::Small));
    }

    #[test]
    fn a_stall_now_and_then_is_forgotten() {
        let mut policy = with_samples();
        for i in 0..10 * FORGET_AFTER {
            policy.left = 1;
            policy.asked(if i % 50 == 0 { Answer::Slow } else { Answer::Quick }, 0);
        }
        assert_eq!(policy.pauses, 0);
    }
}
