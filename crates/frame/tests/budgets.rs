//! Limits for the memory in use.
#![cfg(feature = "budgets")]

use allod_frame::budgets::{self, Event, Level, Limits, Of, Whose};
use allod_frame::tags::Tag;
use allod_frame::{Arena, Team, thread};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The callback and the program's budget are the whole process's: one test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    budgets::set(Of::Program, Limits::none());
    budgets::set(Of::Thread, Limits::none());
    budgets::on_event(|_| {});
    alone
}

fn hard(bytes: usize) -> Limits {
    Limits::none().hard(bytes)
}

/// Collects what the callback is told.
fn events() -> Arc<Mutex<Vec<Event>>> {
    let events = Arc::new(Mutex::new(Vec::new()));
    let told = events.clone();
    budgets::on_event(move |event| told.lock().unwrap().push(*event));
    events
}

#[test]
fn a_tags_hard_limit_refuses_and_try_tells_why() {
    static TAG: Tag = Tag::new("b-hard");
    let _alone = alone();
    budgets::set(Of::Tag(&TAG), hard(1000));
    let mut arena = Arena::new();
    for _ in 0..3 {
        arena.frame(|f| {
            TAG.with(|| {
                assert!(f.try_alloc([0u8; 1000]).is_ok(), "up to the limit");
                assert!(f.try_alloc(0u8).is_err());
                let line = line!() - 1;
                let refused = budgets::refused().unwrap();
                assert_eq!(refused.whose, Whose::Tag("b-hard"));
                assert_eq!((refused.used, refused.limit, refused.asked), (1000, 1000, 1));
                assert_eq!((refused.location.file(), refused.location.line()), (file!(), line));
                assert!(budgets::refused().is_none(), "asked once");
            });
            assert!(f.try_alloc([0u8; 5000]).is_ok(), "other memory is not the tag's");
        });
        assert_eq!(budgets::used(Of::Tag(&TAG)), 0);
    }
}

#[test]
fn what_memory_does_not_suffice_for_is_not_charged() {
    static TAG: Tag = Tag::new("b-no-memory");
    let _alone = alone();
    budgets::set(Of::Tag(&TAG), hard(usize::MAX >> 1));
    let mut arena = Arena::new();
    arena.frame(|f| {
        TAG.with(|| {
            f.alloc([0u8; 100]);
            assert!(f.try_alloc_slice_fill(1 << 46, 0u8).is_err(), "no machine has that much");
            assert_eq!(budgets::used(Of::Tag(&TAG)), 100);
            let panic = catch_unwind(AssertUnwindSafe(|| f.alloc_slice_fill(1 << 46, 0u8).len()));
            let text = *panic.unwrap_err().downcast::<String>().unwrap();
            assert!(text.contains("out of memory"), "{text}");
            assert_eq!(budgets::used(Of::Tag(&TAG)), 100);
        });
    });
}

#[test]
fn the_plain_form_panics_with_the_budget_and_the_place() {
    static TAG: Tag = Tag::new("b-panic");
    let _alone = alone();
    budgets::set(Of::Tag(&TAG), hard(100));
    let payload =
        catch_unwind(|| thread::frame(|f| TAG.with(|| f.alloc([0u8; 101])[0]))).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    for part in ["the tag `b-panic`", "0 of 100 bytes", "101 more", "tests/budgets.rs:"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(budgets::used(Of::Tag(&TAG)), 0, "the panic ended the frame");
}

#[test]
fn the_soft_limit_is_told_once_until_the_use_falls_to_it() {
    static TAG: Tag = Tag::new("b-soft");
    let _alone = alone();
    let events = events();
    budgets::set(Of::Tag(&TAG), Limits::none().soft(100));
    let mut arena = Arena::new();
    for round in 1..=3 {
        arena.frame(|f| {
            TAG.with(|| {
                f.alloc([0u8; 100]);
                assert_eq!(events.lock().unwrap().len(), round - 1, "at the limit is within it");
                f.alloc([0u8; 7]);
                f.alloc([0u8; 500]);
            });
        });
        let events = events.lock().unwrap();
        assert_eq!(events.len(), round);
        let Event { level, used, limit, asked, tag, .. } = events[round - 1];
        assert_eq!((level, used, limit, asked, tag), (Level::Soft, 100, 100, 7, "b-soft"));
    }
}

#[test]
fn a_part_is_charged_to_the_whole_too() {
    static WHOLE: Tag = Tag::new("b-whole");
    static PART: Tag = Tag::new("b-whole/part");
    let _alone = alone();
    budgets::set(Of::Tag(&WHOLE), hard(1000));
    thread::frame(|f| {
        WHOLE.with(|| f.alloc([0u8; 300])[0]);
        PART.with(|| {
            f.alloc([0u8; 600]);
            assert!(f.try_alloc([0u8; 101]).is_err());
            assert_eq!(budgets::refused().unwrap().whose, Whose::Tag("b-whole"));
        });
        assert_eq!(budgets::used(Of::Tag(&WHOLE)), 900);
        assert_eq!(budgets::used(Of::Tag(&PART)), 600);
    });
}

#[test]
fn a_threads_budget_is_its_own_and_ends_with_it() {
    let _alone = alone();
    for _ in 0..4 {
        std::thread::scope(|s| {
            s.spawn(|| {
                assert_eq!(budgets::limits(Of::Thread), Limits::none());
                budgets::set(Of::Thread, hard(10_000));
                thread::frame(|f| {
                    f.alloc_slice_fill(9000, 0u8);
                    assert!(f.try_alloc_slice_fill(2000, 0u8).is_err());
                    assert_eq!(budgets::refused().unwrap().whose, Whose::Thread);
                    let there = std::thread::scope(|s| {
                        s.spawn(|| thread::frame(|g| g.alloc_slice_fill(50_000, 0u8).len())).join()
                    });
                    assert_eq!(there.unwrap(), 50_000);
                });
                assert_eq!(budgets::used(Of::Thread), 0);
            });
        });
    }
}

#[test]
fn the_programs_budget_holds_for_all_threads_together() {
    let _alone = alone();
    const LIMIT: usize = 1 << 20;
    let before = budgets::used(Of::Program);
    budgets::set(Of::Program, hard(before + LIMIT));
    let mut team = Team::new();
    let given: usize = team.frame(|workers| {
        let given = std::thread::scope(|s| {
            let threads: Vec<_> = (0..4)
                .map(|_| {
                    s.spawn(|| {
                        let one = || workers.with(|f| f.try_alloc_slice_fill(1000, 0u8).is_ok());
                        (0..1000).filter(|_| one()).count() * 1000
                    })
                })
                .collect();
            threads.into_iter().map(|t| t.join().unwrap()).sum()
        });
        assert_eq!(budgets::used(Of::Program), before + given);
        given
    });
    // Four times the limit was asked for. What threads hold reserved is at most a 32nd each.
    assert!((LIMIT * 7 / 8..=LIMIT).contains(&given), "{given} of {LIMIT}");
    assert_eq!(budgets::used(Of::Program), before, "the team's frame ended on another thread");
}

#[test]
fn threads_that_allocate_and_end_frames_at_once_never_exceed_the_limit_and_put_all_back() {
    static TAGS: [Tag; 2] = [Tag::new("b-threads"), Tag::new("b-threads/part")];
    let _alone = alone();
    const LIMIT: usize = 400_000;
    budgets::set(Of::Tag(&TAGS[0]), hard(LIMIT));
    let live = AtomicUsize::new(0);
    let refused = AtomicUsize::new(0);
    std::thread::scope(|s| {
        for thread in 0..4 {
            let (live, refused) = (&live, &refused);
            s.spawn(move || {
                let mut arena = Arena::new();
                for round in 0..300 {
                    arena.frame(|f| {
                        let mut ours = 0;
                        for i in 0..40 {
                            let bytes = (thread * 7919 + round * 104_729 + i * 1299) % 9000;
                            let _tagged = TAGS[i % 2].enter();
                            if f.try_alloc_slice_fill(bytes, 1u8).is_ok() {
                                ours += bytes;
                                let live = live.fetch_add(bytes, SeqCst) + bytes;
                                assert!(live <= LIMIT, "{live} in use");
                            } else {
                                refused.fetch_add(1, SeqCst);
                            }
                        }
                        live.fetch_sub(ours, SeqCst);
                    });
                }
            });
        }
    });
    assert_eq!(budgets::used(Of::Tag(&TAGS[0])), 0);
    assert!(refused.into_inner() < 4 * 300 * 40 / 2, "most are served");
}

#[test]
fn scopes_rollbacks_and_speculation_put_back_exactly() {
    static TAG: Tag = Tag::new("b-exact");
    static OTHER: Tag = Tag::new("b-exact-other");
    let _alone = alone();
    let used = || budgets::used(Of::Tag(&TAG));
    let _tagged = TAG.enter();
    let mut arena = Arena::new();
    let mut guard = arena.begin();
    guard.frame().alloc([0u8; 100]);
    let checkpoint = guard.checkpoint();
    guard.frame().alloc([0u8; 10]);
    OTHER.with(|| guard.frame().alloc([0u8; 1000])[0]);
    guard.frame().alloc([0u8; 1]);
    assert_eq!((used(), budgets::used(Of::Tag(&OTHER))), (111, 1000));
    guard.rollback(checkpoint);
    assert_eq!((used(), budgets::used(Of::Tag(&OTHER))), (100, 0));
    guard.end();
    assert_eq!(used(), 0);

    arena.frame(|f| {
        f.alloc([0u8; 50]);
        f.scope(|s| {
            s.alloc([0u8; 7]);
            assert_eq!(used(), 57);
        });
        assert_eq!(used(), 50);
        let failed: Result<&mut u8, ()> = f.speculate(|s| {
            s.alloc([0u8; 30]);
            Err(())
        });
        assert_eq!((failed, used()), (Err(()), 50));
        f.speculate(|s| Ok::<_, ()>(s.alloc([0u8; 3]))).unwrap();
        assert_eq!(used(), 53);
        f.alloc_drop(String::from("a drop between charges"));
        f.alloc([0u8; 4]);
    });
    assert_eq!(used(), 0);
}

#[test]
fn a_finished_frame_is_in_use_until_it_is_dropped_wherever_that_is() {
    static TAG: Tag = Tag::new("b-finished");
    let _alone = alone();
    let finished = TAG.with(|| Arena::new().finish(|f| f.alloc_slice_fill(200_000, 1u8)));
    assert_eq!(budgets::used(Of::Tag(&TAG)), 200_000);
    std::thread::spawn(move || finished.len()).join().unwrap();
    assert_eq!(budgets::used(Of::Tag(&TAG)), 0);
}

#[test]
#[cfg(feature = "allocator-api2")]
fn a_vector_that_grows_in_place_is_charged_for_its_growth() {
    static TAG: Tag = Tag::new("b-vector");
    let _alone = alone();
    budgets::set(Of::Tag(&TAG), hard(1 << 12));
    thread::frame(|f| {
        TAG.with(|| {
            let mut list = allocator_api2::vec::Vec::new_in(&*f);
            while list.try_reserve(1).is_ok() {
                list.push(1u8);
            }
            assert!((2048..=4096).contains(&list.len()), "{}", list.len());
            assert_eq!(budgets::used(Of::Tag(&TAG)), list.capacity());
            list.shrink_to(10);
            drop(list);
            assert_eq!(budgets::used(Of::Tag(&TAG)), 0, "the newest block went back");
        });
    });
}

#[test]
fn limits_change_at_run_time_and_the_callback_may_do_it() {
    static TAG: Tag = Tag::new("b-change");
    let _alone = alone();
    let mut arena = Arena::new();
    arena.frame(|f| {
        TAG.with(|| {
            // Without limits the thread reserves ahead; a new limit takes that back.
            f.alloc([0u8; 100]);
            budgets::set(Of::Tag(&TAG), hard(150));
            assert!(f.try_alloc([0u8; 51]).is_err());
            assert!(f.try_alloc([0u8; 50]).is_ok());
            budgets::set(Of::Tag(&TAG), hard(50));
            assert!(f.try_alloc(0u8).is_err(), "more is in use than allowed");
            budgets::on_event(|event| {
                assert_eq!(event.level, Level::Soft);
                budgets::set(Of::Tag(&TAG), Limits::none());
            });
            budgets::set(Of::Tag(&TAG), Limits::none().soft(200).hard(300));
            f.alloc([0u8; 60]);
            f.alloc([0u8; 6000]);
            assert_eq!(budgets::limits(Of::Tag(&TAG)), Limits::none());
        });
    });
    assert_eq!(budgets::used(Of::Tag(&TAG)), 0);
}

#[test]
fn the_callback_may_allocate_and_is_not_called_from_within_itself() {
    static TAG: Tag = Tag::new("b-within");
    let _alone = alone();
    let calls = Arc::new(Mutex::new(0));
    let counted = calls.clone();
    budgets::on_event(move |_| {
        *counted.lock().unwrap() += 1;
        // Over the hard limit; charged, and not refused.
        thread::frame(|f| assert_eq!(f.alloc_slice_fill(10_000, 1u8).len(), 10_000));
    });
    budgets::set(Of::Tag(&TAG), hard(1000));
    thread::frame(|f| {
        TAG.with(|| {
            f.alloc([0u8; 900]);
            assert!(f.try_alloc([0u8; 200]).is_err());
            assert!(f.try_alloc([0u8; 100]).is_ok(), "what the callback used went back");
        });
    });
    assert_eq!((*calls.lock().unwrap(), budgets::used(Of::Tag(&TAG))), (1, 0));
}

#[test]
fn a_panic_in_the_callback_leaves_through_the_allocation_and_spoils_nothing() {
    static TAG: Tag = Tag::new("b-callback-panics");
    let _alone = alone();
    budgets::set(Of::Tag(&TAG), Limits::none().soft(10));
    budgets::on_event(|_| panic!("from the callback"));
    let mut arena = Arena::new();
    arena.frame(|f| {
        let payload = catch_unwind(AssertUnwindSafe(|| TAG.with(|| f.alloc([0u8; 50])[0])));
        assert_eq!(payload.unwrap_err().downcast_ref::<&str>(), Some(&"from the callback"));
        assert_eq!(budgets::used(Of::Tag(&TAG)), 0);
        TAG.with(|| f.alloc([0u8; 20])[0]);
    });
    assert_eq!(budgets::used(Of::Tag(&TAG)), 0);
    budgets::on_event(|_| {});
}

#[test]
fn a_checkpoint_that_was_undone_puts_back_no_charge_of_another_entry() {
    static DROPS: AtomicUsize = AtomicUsize::new(0);
    struct Counted;
    impl Drop for Counted {
        fn drop(&mut self) {
            DROPS.fetch_add(1, SeqCst);
        }
    }
    let _alone = alone();
    let mut arena = Arena::new();
    let mut guard = arena.begin();
    guard.frame().alloc_slice_drop((0..10).map(|_| Counted));
    let first = guard.checkpoint();
    guard.frame().alloc_drop(Counted);
    let undone = guard.checkpoint();
    guard.rollback(first);
    guard.frame().alloc_slice_fill(1000, 0u8);
    guard.rollback(undone);
    assert_eq!(DROPS.load(SeqCst), 1);
    drop(guard);
    assert_eq!(DROPS.load(SeqCst), 11);
}

#[test]
fn what_no_memory_was_found_for_is_not_in_use() {
    static TAG: Tag = Tag::new("b-out-of-memory");
    let _alone = alone();
    Arena::new().frame(|f| {
        TAG.with(|| {
            f.alloc(1u8);
            assert!(f.try_alloc_slice_uninit::<u8>(1 << 60).is_err());
            assert_eq!(budgets::used(Of::Tag(&TAG)), 1);
            assert!(budgets::refused().is_none(), "no budget refused it");
        });
    });
    assert_eq!(budgets::used(Of::Tag(&TAG)), 0);
}

#[test]
fn a_callback_that_is_replaced_may_set_another_in_its_drop() {
    struct SetsAnother;
    impl Drop for SetsAnother {
        fn drop(&mut self) {
            budgets::on_event(|_| {});
        }
    }
    let _alone = alone();
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let captured = SetsAnother;
        budgets::on_event(move |_| _ = &captured);
        budgets::on_event(|_| {});
        done.send(()).unwrap();
    });
    let waited = is_done.recv_timeout(std::time::Duration::from_secs(20));
    assert!(waited.is_ok(), "it waits for itself");
}
