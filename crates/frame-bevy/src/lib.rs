//! Frames in bevy's schedule, and an arena as a system parameter, for bevy 0.20.
//!
//! [`FramePlugin`] makes each run of the main schedule one frame: systems on any thread allocate
//! from [`FrameArena`], each thread from its own arena, and after `Last` everything is freed at
//! once. What a system allocates lives as long as the system runs, by its lifetime;
//! [`FrameArena::share`] makes values available to later systems of the same frame.
//!
//! ```
//! use allod_frame_bevy::{FrameArena, FramePlugin, InFrame};
//! use bevy_app::{App, PostUpdate, Update};
//! use bevy_ecs::prelude::*;
//!
//! #[derive(Resource, Default)]
//! struct Nearest(Option<InFrame<[u32]>>);
//!
//! fn find(frame: FrameArena, mut nearest: ResMut<Nearest>) {
//!     let distances = frame.alloc_slice_fill_with(100, |i| (i as u32 * 37) % 100);
//!     distances.sort_unstable();
//!     nearest.0 = Some(frame.share(|f| f.alloc_slice_copy(&distances[..3])));
//! }
//!
//! fn draw(frame: FrameArena, nearest: Res<Nearest>) {
//!     let nearest = nearest.0.and_then(|shared| frame.get(shared));
//!     assert_eq!(nearest, Some(&[0, 1, 2][..]));
//! }
//!
//! let mut app = App::new();
//! app.add_plugins(FramePlugin)
//!     .init_resource::<Nearest>()
//!     .add_systems(Update, find)
//!     .add_systems(PostUpdate, draw);
//! app.update();
//! app.update();
//! ```
//!
//! **Why it is sound.** [`Frames`] is an ordinary resource that [`FrameArena`] reads, as `Res` does,
//! and the frame's end writes, as `ResMut` does. So bevy itself never runs the end concurrently with
//! systems that use the arena, and values borrow the resource.

use allod_frame::{Entered, Frame, Open, Team};
use bevy_app::{App, Last, MainScheduleOrder, Plugin};
use bevy_ecs::change_detection::Tick;
use bevy_ecs::prelude::{Res, ResMut, Resource, World};
use bevy_ecs::schedule::ScheduleLabel;
use bevy_ecs::system::{
    ReadOnlySystemParam, SystemAccess, SystemMeta, SystemParam, SystemParamValidationError,
};
use bevy_ecs::world::unsafe_world_cell::UnsafeWorldCell;
use core::fmt;
use core::ops::Deref;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicU64, Ordering};

/// Begins and ends frames: adds the resource [`Frames`] and, after `Last`, the schedule [`FrameEnd`].
#[derive(Clone, Copy, Debug, Default)]
pub struct FramePlugin;

impl Plugin for FramePlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Frames>().init_schedule(FrameEnd).add_systems(FrameEnd, end_frame);
        app.world_mut().resource_mut::<MainScheduleOrder>().insert_after(Last, FrameEnd);
    }
}

/// The schedule after `Last` in which the frame ends. The next one begins with its first use.
#[derive(ScheduleLabel, Clone, Debug, PartialEq, Eq, Hash)]
pub struct FrameEnd;

/// Ends the frame. [`FramePlugin`] runs it; add it to your own schedule if bevy's main
/// schedule is not used.
pub fn end_frame(mut frames: ResMut<Frames>) {
    frames.end();
}

/// The arenas of all threads, as a resource.
#[derive(Resource)]
pub struct Frames {
    team: Team,
    /// The number of the open frame, unique across worlds.
    number: u64,
}

impl Default for Frames {
    fn default() -> Frames {
        Frames { team: Team::new(), number: next_number() }
    }
}

fn next_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

impl Frames {
    /// The arena of the calling thread, as [`FrameArena`] gives it to systems.
    ///
    /// # Panics
    /// When memory is out.
    #[must_use]
    pub fn enter(&self) -> FrameArena<'_> {
        FrameArena { frame: self.team.enter(), number: self.number }
    }

    /// Ends the frame of all threads: their memory is free for the next, registered values are dropped,
    /// and [`InFrame`] values are gone.
    pub fn end(&mut self) {
        self.number = next_number();
        self.team.end_frame();
    }

    /// The bytes that the arenas of all threads keep.
    #[must_use]
    pub fn reserved(&mut self) -> usize {
        self.team.reserved()
    }
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Frames").field("number", &self.number).finish_non_exhaustive()
    }
}

/// A system parameter: the frame of the thread that runs the system.
///
/// Dereferences to [`Frame`], so `frame.alloc(...)`, `frame.batch(...)` and `Vec::new_in(&*frame)`
/// work; what they return lives as long as the system runs. Systems that use it run in parallel. The
/// cost is one [`Team::enter`] per system and thread, about 3 ns.
///
/// # Panics
/// The system is refused, as for a missing `Res`, when [`FramePlugin`] was not added.
///
/// Values cannot be kept for the next frame:
/// ```compile_fail
/// # use allod_frame_bevy::FrameArena;
/// # use bevy_ecs::prelude::*;
/// fn keep(frame: FrameArena, mut kept: Local<Option<&'static mut u32>>) {
///     *kept = Some(frame.alloc(1)); // does not compile: the value lives as long as the system runs
/// }
/// ```
#[derive(Debug)]
pub struct FrameArena<'w> {
    frame: Entered<'w>,
    number: u64,
}

impl<'w> FrameArena<'w> {
    /// Makes a value that later systems of the same frame can [`get`](FrameArena::get), by a handle
    /// that resources, components and messages may hold.
    ///
    /// The value must not refer to other values of the frame, nor to the surroundings of the closure.
    ///
    /// # Panics
    /// When memory is out.
    #[inline]
    pub fn share<T: ?Sized + Sync + 'static>(
        &self,
        make: impl for<'f> FnOnce(&'f Open<'f, 'static>) -> &'f mut T,
    ) -> InFrame<T> {
        // SAFETY: only lifetimes change, `Open` has the layout of its frame; the lifetime is the
        // closure's own, and a shared reference cannot be exchanged.
        let frame = unsafe { &*(&raw const *self.frame).cast::<Open<'_, 'static>>() };
        InFrame { value: NonNull::from(make(frame)), number: self.number }
    }

    /// A value that was shared in this frame, by any system on any thread; `None` if its frame has
    /// ended or it belongs to another world.
    #[inline]
    #[must_use]
    pub fn get<T: ?Sized + Sync + 'static>(&self, shared: InFrame<T>) -> Option<&'w T> {
        if shared.number != self.number {
            return None;
        }
        // SAFETY: the frame of that number is open, and stays open for 'w, in which the resource is
        // borrowed; the value lies in it (or is static), and its exclusive reference was given up.
        Some(unsafe { shared.value.as_ref() })
    }

    /// Runs `work` in a scope: what it allocates is freed when it returns, and may refer to the
    /// surroundings, such as a query's data.
    ///
    /// ```
    /// # use allod_frame_bevy::FrameArena;
    /// # use bevy_ecs::prelude::*;
    /// #[derive(Component)]
    /// struct Name(String);
    /// fn by_length(mut frame: FrameArena, names: Query<&Name>) {
    ///     frame.scope(|f| {
    ///         let names: &mut [&Name] = f.alloc_slice_from_iter(&names);
    ///         names.sort_by_key(|name| name.0.len());
    ///         assert_eq!(names[0].0, "a");
    ///     });
    /// }
    /// # let mut world = World::new();
    /// # world.init_resource::<allod_frame_bevy::Frames>();
    /// # world.spawn_batch(["bee", "a"].map(|name| Name(String::from(name))));
    /// # world.run_system_cached(by_length).unwrap();
    /// ```
    #[inline]
    pub fn scope<'env, R>(&mut self, work: impl for<'s> FnOnce(&'s mut Open<'s, 'env>) -> R) -> R {
        self.frame.scope(work)
    }
}

impl<'w> Deref for FrameArena<'w> {
    type Target = Frame<'w>;
    #[inline]
    fn deref(&self) -> &Frame<'w> {
        &self.frame
    }
}

// SAFETY: the world is accessed as `Res<Frames>` does it, whose implementation does the work.
unsafe impl SystemParam for FrameArena<'_> {
    type State = <Res<'static, Frames> as SystemParam>::State;
    type Item<'world, 'state> = FrameArena<'world>;

    fn init_state(world: &mut World) -> Self::State {
        Res::<Frames>::init_state(world)
    }

    fn init_access(
        state: &Self::State,
        system_meta: &mut SystemMeta,
        system_access: &mut SystemAccess,
        world: &mut World,
    ) {
        Res::<Frames>::init_access(state, system_meta, system_access, world);
    }

    #[inline]
    unsafe fn get_param<'world, 'state>(
        state: &'state mut Self::State,
        system_meta: &SystemMeta,
        world: UnsafeWorldCell<'world>,
        change_tick: Tick,
    ) -> Result<Self::Item<'world, 'state>, SystemParamValidationError> {
        // SAFETY: the caller's contract is the same.
        let frames = unsafe { Res::<Frames>::get_param(state, system_meta, world, change_tick) }?;
        Ok(frames.into_inner().enter())
    }
}

// SAFETY: `Res` only reads the world, and that is all that is used.
unsafe impl ReadOnlySystemParam for FrameArena<'_> {}

/// A value in the frame, for systems that run later in the same frame. See [`FrameArena::share`].
///
/// 16 bytes, or 24 for slices and strings; copied freely. It does not keep the value: after the
/// frame has ended, [`FrameArena::get`] returns `None`.
pub struct InFrame<T: ?Sized + 'static> {
    value: NonNull<T>,
    number: u64,
}

// SAFETY: a handle gives out shared references to a value that is `Sync`.
unsafe impl<T: ?Sized + Sync> Send for InFrame<T> {}
// SAFETY: as for Send.
unsafe impl<T: ?Sized + Sync> Sync for InFrame<T> {}

impl<T: ?Sized> Clone for InFrame<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for InFrame<T> {}

impl<T: ?Sized> fmt::Debug for InFrame<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InFrame").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The programs on this crate's page are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page_of_the_crate {}
