//! The subjects: what gives memory within a frame, and how its frame ends.
//!
//! Every subject is used in the fastest way that its documentation offers for uninitialised memory.

use crate::arenas::{Arena, Memory, array, layout};
use allod_lab::inprocess::Timer;
use std::alloc::Layout;

/// What a frame does: `run` is timed, with begin and end; `check` is not.
pub(super) trait Work {
    fn run(&self, memory: &impl Memory);
    fn check(&self) -> u64;
}

/// Something that has frames.
pub(super) trait Frames {
    fn frame(&mut self, timer: &mut Timer, work: &impl Work) -> u64;
}

/// Times begin and work, then the end, with the check between.
macro_rules! timed_frame {
    ($timer:ident, $work:ident, $memory:expr, $end:expr) => {{
        $timer.time(|| $work.run($memory));
        let sum = $work.check();
        $timer.time(|| $end);
        sum
    }};
}
pub(super) use timed_frame;

// ---- Allod, without features and with all that count ----------------------------------------

macro_rules! allod {
    ($frames:ident) => {
        impl Memory for $frames::Frame<'_> {
            #[inline(always)]
            fn room<T: 'static>(&self) -> *mut T {
                self.alloc_uninit::<T>().as_mut_ptr()
            }
            #[inline(always)]
            fn slice<T: 'static>(&self, n: usize) -> *mut T {
                self.batch::<T>(n).uninit().as_mut_ptr().cast()
            }
            #[inline(always)]
            fn bytes(&self, size: usize, align: usize) -> *mut u8 {
                self.alloc_layout(layout(size, align)).as_ptr()
            }
        }

        impl Frames for $frames::Arena {
            fn frame(&mut self, timer: &mut Timer, work: &impl Work) -> u64 {
                let guard = timer.time(|| {
                    let guard = self.begin();
                    work.run(guard.frame());
                    guard
                });
                let sum = work.check();
                timer.time(|| guard.end());
                sum
            }
        }
    };
}
allod!(allod_frame);
allod!(allod_frame_full);

// ---- Arenas of other crates -----------------------------------------------------------------

impl<A: Arena> Frames for A {
    fn frame(&mut self, timer: &mut Timer, work: &impl Work) -> u64 {
        timed_frame!(timer, work, &*self, self.empty())
    }
}

pub(super) type Blink = blink_alloc::Blink<blink_alloc::BlinkAlloc>;

impl Memory for Blink {
    #[inline(always)]
    fn room<T: 'static>(&self) -> *mut T {
        self.uninit::<T>().as_mut_ptr()
    }
    #[inline(always)]
    fn slice<T: 'static>(&self, n: usize) -> *mut T {
        blink_block(self, array::<T>(n)).cast()
    }
    #[inline(always)]
    fn bytes(&self, size: usize, align: usize) -> *mut u8 {
        blink_block(self, layout(size, align))
    }
}

#[inline(always)]
fn blink_block(blink: &Blink, layout: Layout) -> *mut u8 {
    let block = blink.allocator().allocate(layout).expect("memory");
    block.as_ptr().cast()
}

impl Frames for Blink {
    fn frame(&mut self, timer: &mut Timer, work: &impl Work) -> u64 {
        timed_frame!(timer, work, &*self, self.reset())
    }
}
