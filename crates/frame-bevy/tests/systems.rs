//! What frames in bevy's schedule promise; no window is opened.

use allod_frame_bevy::{FrameArena, FrameEnd, FramePlugin, Frames, InFrame, end_frame};
use bevy_app::{App, First, Last, PostUpdate, TaskPoolPlugin, Update};
use bevy_ecs::prelude::*;
use bevy_ecs::system::SystemState;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::thread::ThreadId;

fn app() -> App {
    let mut app = App::new();
    app.add_plugins(FramePlugin);
    app
}

#[derive(Resource, Default)]
struct Totals(Vec<u64>);

#[test]
fn systems_allocate_from_the_frame_and_memory_is_used_again() {
    #[derive(Resource, Default)]
    struct Places(HashSet<usize>);
    fn sum(frame: FrameArena, mut totals: ResMut<Totals>, mut places: ResMut<Places>) {
        let numbers = frame.alloc_slice_fill_with(10_000, |i| i as u64);
        places.0.insert(numbers.as_ptr().addr());
        let mut evens = allocator_api2::vec::Vec::new_in(&*frame);
        evens.extend(numbers.iter().filter(|n| *n % 2 == 0));
        totals.0.push(evens.iter().sum());
    }
    let mut app = app();
    app.init_resource::<Totals>().init_resource::<Places>().add_systems(Update, sum);
    // The first frames take chunks; on one thread the others find the same place.
    app.edit_schedule(Update, |schedule| {
        schedule.set_executor(bevy_ecs::schedule::SingleThreadedExecutor::new());
    });
    for _ in 0..100 {
        app.update();
    }
    let even: u64 = (0..10_000).step_by(2).sum();
    assert_eq!(app.world().resource::<Totals>().0, vec![even; 100]);
    assert!(app.world().resource::<Places>().0.len() <= 2);
    assert!(app.world_mut().resource_mut::<Frames>().reserved() < 1 << 20);
}

#[test]
fn systems_on_several_threads_at_once_have_arenas_of_their_own() {
    #[derive(Resource)]
    struct Meeting {
        both: Barrier,
        threads: Mutex<HashSet<ThreadId>>,
    }
    fn fill(frame: FrameArena, meeting: Res<Meeting>, with: u64) {
        let id = std::thread::current().id();
        meeting.threads.lock().unwrap().insert(id);
        meeting.both.wait();
        for round in 0..1000 {
            let numbers = frame.alloc_slice_fill(50, with + round);
            std::thread::yield_now();
            assert!(numbers.iter().all(|&n| n == with + round));
        }
    }
    let mut app = app();
    app.add_plugins(TaskPoolPlugin::default())
        .insert_resource(Meeting { both: Barrier::new(2), threads: Mutex::default() })
        .add_systems(
            Update,
            (
                |f: FrameArena, m: Res<Meeting>| fill(f, m, 1 << 20),
                |f: FrameArena, m: Res<Meeting>| fill(f, m, 1 << 40),
            ),
        );
    app.edit_schedule(Update, |schedule| {
        schedule.set_executor(bevy_ecs::schedule::MultiThreadedExecutor::new());
    });
    for _ in 0..20 {
        app.update();
    }
    let met = app.world().resource::<Meeting>();
    assert!(met.threads.lock().unwrap().len() >= 2, "they met at a barrier of two");
}

#[derive(Resource, Default)]
struct Found {
    now: Option<InFrame<[u32]>>,
    before: Option<InFrame<[u32]>>,
    seen: usize,
}

#[test]
fn a_shared_value_is_seen_in_its_frame_and_never_after() {
    fn find(frame: FrameArena, mut found: ResMut<Found>, mut turn: Local<u32>) {
        *turn += 1;
        let turn = *turn;
        found.before = found.now.replace(frame.share(|f| f.alloc_slice_fill(100, turn)));
    }
    fn see(frame: FrameArena, mut found: ResMut<Found>) {
        let now = frame.get(found.now.unwrap()).expect("of this frame");
        assert_eq!(now.len(), 100);
        assert!(now.iter().all(|&n| n as usize == found.seen + 1));
        assert!(
            found.before.is_none_or(|before| frame.get(before).is_none()),
            "of the frame before"
        );
        found.seen += 1;
    }
    let mut app = app();
    app.init_resource::<Found>().add_systems(First, find).add_systems((PostUpdate, Last).0, see);
    for _ in 0..10 {
        app.update();
    }
    assert_eq!(app.world().resource::<Found>().seen, 10);

    // Nor in another world.
    let found = app.world().resource::<Found>().now.unwrap();
    let mut other = World::new();
    other.init_resource::<Frames>();
    assert!(other.resource::<Frames>().enter().get(found).is_none());
}

#[test]
fn the_frame_ends_after_last_and_drops_what_was_registered() {
    struct Ends(Arc<AtomicUsize>);
    impl Drop for Ends {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    #[derive(Resource)]
    struct Count(Arc<AtomicUsize>, AtomicBool);
    let ends = Arc::new(AtomicUsize::new(0));
    let mut app = app();
    app.insert_resource(Count(ends.clone(), AtomicBool::new(false)))
        .add_systems(Update, |frame: FrameArena, count: Res<Count>| {
            frame.alloc_drop(Ends(count.0.clone()));
        })
        .add_systems(Last, |count: Res<Count>, mut turn: Local<usize>| {
            assert_eq!(count.0.load(SeqCst), *turn, "not yet");
            *turn += 1;
            count.1.store(true, SeqCst);
        });
    app.update();
    assert_eq!(ends.load(SeqCst), 1);
    app.update();
    assert_eq!(ends.load(SeqCst), 2);
    assert!(app.world().resource::<Count>().1.load(SeqCst));
}

#[test]
fn scopes_and_two_parameters_in_one_system_do_not_disturb_each_other() {
    fn both(mut first: FrameArena, second: FrameArena, mut totals: ResMut<Totals>) {
        let kept = second.alloc(1);
        let before = first.used();
        let inner = first.scope(|s| {
            let scratch = s.alloc_slice_fill(1000, 2u64);
            let also = second.alloc_slice_fill(1000, 3u64);
            scratch.iter().sum::<u64>() + also.iter().sum::<u64>()
        });
        assert_eq!(first.used(), before);
        totals.0.push(*kept + inner);
    }
    let mut app = app();
    app.init_resource::<Totals>().add_systems(Update, both);
    app.update();
    assert_eq!(app.world().resource::<Totals>().0, [5001]);
}

#[test]
fn a_world_without_an_app_ends_frames_itself() {
    let mut world = World::new();
    world.init_resource::<Frames>();
    let mut state: SystemState<FrameArena> = SystemState::new(&mut world);
    for turn in 0..3 {
        {
            let frame = state.get(&world).unwrap();
            let number = frame.alloc(turn);
            assert_eq!(*number, turn);
            std::mem::forget(frame); // even so, the frame's end comes
        }
        world.run_system_cached(end_frame).unwrap();
    }
    assert!(world.resource_mut::<Frames>().reserved() < 1 << 20);
}

#[test]
fn the_end_of_the_frame_is_a_schedule_of_its_own() {
    #[derive(Resource)]
    struct Ran(bool);
    let mut app = app();
    app.insert_resource(Ran(false));
    app.add_systems(FrameEnd, |mut ran: ResMut<Ran>| ran.0 = true);
    app.update();
    assert!(app.world().resource::<Ran>().0);
}
