//! What arenas of tasks promise.

mod on_tokio;

use allod_frame::task::{self, NoArena, TaskAlloc, TaskArena, TaskString, TaskVec, in_arena};
use on_tokio::spawn;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};
use std::thread::ThreadId;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::task::yield_now;

fn workers(n: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(n).enable_time().build().unwrap()
}

fn one_thread() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

/// Counts its drops; one is registered in an arena to tell when that ends.
struct Ends(Arc<AtomicUsize>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Counts the end of the current arena.
fn tell_end(ends: &Arc<AtomicUsize>) {
    let told = Ends(ends.clone());
    task::with(|f| {
        f.alloc_drop(told);
    });
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

#[test]
fn a_task_takes_its_arena_along_from_thread_to_thread() {
    let ends = Arc::new(AtomicUsize::new(0));
    let told = ends.clone();
    let mut task = Box::pin(in_arena(async move {
        tell_end(&told);
        let mut threads: TaskVec<ThreadId> = task::vec();
        let first = task::keep(|f| f.alloc_fmt(format_args!("{:?}", std::thread::current().id())));
        for _ in 0..20 {
            threads.push(std::thread::current().id());
            assert!(
                threads.allocator().used().is_some(),
                "the arena is open wherever it is polled"
            );
            yield_now().await;
        }
        assert_eq!(&*first, format!("{:?}", threads[0]));
        threads.sort_by_key(|id| format!("{id:?}"));
        threads.dedup();
        threads.len()
    }));
    let seen = loop {
        let (polled, back) =
            std::thread::spawn(move || (poll_once(task.as_mut()), task)).join().unwrap();
        task = back;
        if let Poll::Ready(threads) = polled {
            break threads;
        }
    };
    assert_eq!(seen, 20, "each poll was on a thread of its own");
    assert_eq!(ends.load(Ordering::SeqCst), 1, "the arena ends with the future, before its drop");
}

#[test]
fn many_tasks_on_many_workers_keep_their_values_apart() {
    workers(4).block_on(async {
        let tasks: Vec<_> = (0..2000u64)
            .map(|n| {
                spawn(async move {
                    let mut numbers = task::vec();
                    let name = task::keep(|f| f.alloc_fmt(format_args!("task {n}")));
                    for i in 0..50 {
                        numbers.push(n * i);
                        if i % 10 == 0 {
                            yield_now().await;
                        }
                    }
                    let boxed = task::boxed(numbers.iter().sum::<u64>());
                    yield_now().await;
                    assert_eq!(&*name, format!("task {n}"));
                    *boxed
                })
            })
            .collect();
        for (n, task) in tasks.into_iter().enumerate() {
            assert_eq!(task.await.unwrap(), n as u64 * (0..50).sum::<u64>());
        }
    });
}

#[test]
fn a_cancelled_task_frees_its_arena() {
    let ends = Arc::new(AtomicUsize::new(0));
    workers(2).block_on(async {
        let told = ends.clone();
        let (started, wait) = tokio::sync::oneshot::channel();
        let task = spawn(async move {
            tell_end(&told);
            let _held = task::keep(|f| f.alloc_slice_fill(10_000, 7u8));
            started.send(()).unwrap();
            std::future::pending::<()>().await;
        });
        wait.await.unwrap();
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    });
    assert_eq!(ends.load(Ordering::SeqCst), 1);
}

#[test]
fn a_future_dropped_half_way_or_never_polled_frees_its_arena() {
    let ends = Arc::new(AtomicUsize::new(0));
    let told = ends.clone();
    let mut half = Box::pin(in_arena(async move {
        tell_end(&told);
        let _kept = task::boxed(Ends(told));
        yield_now().await;
        unreachable!("not polled again");
    }));
    assert!(poll_once(half.as_mut()).is_pending());
    drop(half);
    assert_eq!(ends.load(Ordering::SeqCst), 2);
    drop(in_arena(async { unreachable!("never polled") }));
}

#[test]
fn a_task_that_panics_frees_its_arena() {
    let ends = Arc::new(AtomicUsize::new(0));
    let told = ends.clone();
    workers(2).block_on(async {
        let task = spawn(async move {
            tell_end(&told);
            let _boxed = task::boxed(Ends(told));
            yield_now().await;
            std::panic::resume_unwind(Box::new("on purpose"));
        });
        assert!(task.await.unwrap_err().is_panic());
    });
    assert_eq!(ends.load(Ordering::SeqCst), 2);
    assert_eq!(TaskAlloc::try_current().unwrap_err(), NoArena);
}

#[test]
fn a_part_of_a_task_in_its_own_arena_frees_it_first() {
    let ends = Arc::new(AtomicUsize::new(0));
    let told = ends.clone();
    one_thread().block_on(in_arena(async move {
        let mut outer = task::vec();
        outer.push(1);
        let inner = in_arena(async {
            tell_end(&told);
            outer.push(2); // grows in its own arena, which is open, too
            let inner = task::boxed(3);
            assert!(!std::ptr::eq(
                std::ptr::from_ref(&*inner).cast(),
                outer.as_ptr().wrapping_add(outer.len())
            ));
            outer.push(*inner);
            yield_now().await;
            inner
        })
        .await;
        assert_eq!(told.load(Ordering::SeqCst), 0, "the box still keeps it");
        drop(inner);
        assert_eq!(told.load(Ordering::SeqCst), 1);
        assert_eq!(*outer, [1, 2, 3]);
    }));
}

#[test]
fn a_value_grows_in_spawn_blocking_and_comes_back() {
    workers(2).block_on(async {
        let sum = spawn(async {
            let mut numbers = task::vec();
            numbers.extend(0..100u64);
            let mut numbers = tokio::task::spawn_blocking(move || {
                assert_eq!(numbers.allocator().used(), None, "the arena is not open here");
                numbers.extend(100..10_000);
                let copy = numbers.clone();
                drop(copy);
                numbers
            })
            .await
            .unwrap();
            numbers.extend(10_000..20_000);
            numbers.shrink_to_fit();
            numbers.iter().sum::<u64>()
        });
        assert_eq!(sum.await.unwrap(), (0..20_000).sum());
    });
}

#[test]
fn a_result_outlives_its_task_and_the_last_handle_frees_the_arena() {
    let ends = Arc::new(AtomicUsize::new(0));
    let told = ends.clone();
    let runtime = workers(2);
    let (text, bytes) = runtime.block_on(async {
        spawn(async move {
            tell_end(&told);
            let mut text = TaskString::from("made");
            yield_now().await;
            text.push_str(" here");
            (text.clone(), text.into_bytes())
        })
        .await
        .unwrap()
    });
    drop(runtime);
    assert_eq!((&*text, &*bytes), ("made here", &b"made here"[..]));
    drop(text);
    assert_eq!(ends.load(Ordering::SeqCst), 0);
    drop(bytes);
    assert_eq!(ends.load(Ordering::SeqCst), 1);
}

#[test]
fn handles_dropped_everywhere_at_once_free_each_arena_exactly_once() {
    const TASKS: usize = 3000;
    let ends = Arc::new(AtomicUsize::new(0));
    workers(4).block_on(async {
        let tasks: Vec<_> = (0..TASKS)
            .map(|n| {
                let told = ends.clone();
                spawn(async move {
                    tell_end(&told);
                    let alloc = TaskAlloc::current();
                    let elsewhere: Vec<_> = (0..3)
                        .map(|_| {
                            let handle = alloc.clone();
                            tokio::spawn(async move {
                                let more = handle.clone();
                                yield_now().await;
                                drop(handle);
                                let mut grown = TaskVec::new_in(more);
                                grown.extend(0..n as u32 % 100);
                                grown.len()
                            })
                        })
                        .collect();
                    drop(alloc);
                    if n % 2 == 0 {
                        for handle in elsewhere {
                            assert_eq!(handle.await.unwrap(), n % 100);
                        }
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    });
    // The runtime's end has dropped or finished every task.
    assert_eq!(ends.load(Ordering::SeqCst), TASKS);
}

#[test]
fn the_chunks_of_a_task_serve_the_next() {
    let runtime = one_thread();
    let place = || {
        runtime.block_on(in_arena(async {
            let big = task::keep(|f| f.alloc_slice_fill(40_000, 1u8));
            yield_now().await;
            big.as_ptr().addr()
        }))
    };
    let first = place();
    assert!((0..100).all(|_| place() == first));
}

#[test]
fn maps_live_in_a_task_across_await() {
    workers(2).block_on(async {
        let counts = spawn(async {
            let mut counts = hashbrown::HashMap::new_in(TaskAlloc::current());
            for word in "a b a c b a".split(' ') {
                *counts.entry(word).or_insert(0) += 1;
                tokio::time::sleep(Duration::from_micros(10)).await;
            }
            counts
        });
        let counts = counts.await.unwrap();
        assert_eq!((counts["a"], counts["b"], counts["c"]), (3, 2, 1));
    });
}

#[test]
fn outside_an_arena_the_error_says_how_to_get_one() {
    let error = TaskAlloc::try_current().unwrap_err();
    assert!(error.to_string().contains("task::in_arena"), "{error}");
    let panic = std::panic::catch_unwind(|| task::vec::<u8>()).unwrap_err();
    assert!(panic.downcast_ref::<String>().unwrap().contains("RequestArenaLayer"));
}

#[test]
fn idle_arenas_can_be_given_back() {
    let arenas: Vec<_> = (0..500).map(|_| TaskArena::new()).collect();
    drop(arenas);
    task::trim();
    TaskArena::new().enter(|| assert_eq!(task::boxed(5).to_string(), "5"));
}

#[test]
fn empty_blocks_and_large_alignments_are_served_here_and_elsewhere() {
    use allocator_api2::alloc::Allocator;
    use std::alloc::Layout;
    let mut arena = TaskArena::new();
    let alloc = arena.enter(TaskAlloc::current);
    let check = |size, align| {
        let layout = Layout::from_size_align(size, align).unwrap();
        let block = alloc.allocate(layout).unwrap().cast::<u8>();
        assert_eq!(block.as_ptr().addr() % align, 0);
        // SAFETY: a block of the layout, grown, shrunk and freed once.
        unsafe {
            block.write_bytes(9, size);
            let larger = Layout::from_size_align(size + 100, align).unwrap();
            let grown = alloc.grow_zeroed(block, layout, larger).unwrap().cast::<u8>();
            let bytes = std::slice::from_raw_parts(grown.as_ptr(), size + 100);
            assert!(bytes[..size].iter().all(|&b| b == 9) && bytes[size..].iter().all(|&b| b == 0));
            let back = alloc.shrink(grown, larger, layout).unwrap().cast::<u8>();
            assert_eq!(back.as_ptr().addr() % align, 0);
            alloc.deallocate(back, layout);
        }
    };
    for size in [0, 1, 24, 5000] {
        for align in [1, 8, 64, 4096] {
            arena.enter(|| check(size, align));
            check(size, align);
        }
    }
}

mod model {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Step {
        New,
        Push { at: usize, n: u8 },
        Shrink(usize),
        Clone(usize),
        Drop(usize),
        Keep(u8),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            Just(Step::New),
            (any::<usize>(), any::<u8>()).prop_map(|(at, n)| Step::Push { at, n }),
            any::<usize>().prop_map(Step::Shrink),
            any::<usize>().prop_map(Step::Clone),
            any::<usize>().prop_map(Step::Drop),
            any::<u8>().prop_map(Step::Keep),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// Vectors that grow, shrink, are cloned and dropped where their arena is open and where it
        /// is not hold what `std`'s hold, and so do values kept in between.
        #[test]
        fn vectors_hold_what_std_vectors_hold(steps in proptest::collection::vec((step(), any::<bool>()), 1..120)) {
            let mut arena = TaskArena::new();
            let handle = arena.enter(TaskAlloc::current);
            let mut ours: Vec<TaskVec<u32>> = Vec::new();
            let mut theirs: Vec<Vec<u32>> = Vec::new();
            let mut kept = Vec::new();
            let mut next = 0;
            for (step, open) in steps {
                let n = ours.len();
                let mut act = || match step {
                    Step::New => {
                        ours.push(TaskVec::new_in(handle.clone()));
                        theirs.push(Vec::new());
                    }
                    Step::Push { at, n: count } if n > 0 => for _ in 0..count {
                        next += 1;
                        ours[at % n].push(next);
                        theirs[at % n].push(next);
                    },
                    Step::Shrink(at) if n > 0 => {
                        let half = theirs[at % n].len() / 2;
                        ours[at % n].truncate(half);
                        ours[at % n].shrink_to_fit();
                        theirs[at % n].truncate(half);
                    }
                    Step::Clone(at) if n > 0 => {
                        ours.push(ours[at % n].clone());
                        theirs.push(theirs[at % n].clone());
                    }
                    Step::Drop(at) if n > 0 => {
                        ours.swap_remove(at % n);
                        theirs.swap_remove(at % n);
                    }
                    Step::Keep(value) if open => {
                        kept.push((value, task::keep(|f| f.alloc_slice_fill(33, value))));
                    }
                    _ => {}
                };
                if open { arena.enter(act) } else { act() }
                for (ours, theirs) in ours.iter().zip(&theirs) {
                    prop_assert_eq!(&**ours, &**theirs);
                }
                prop_assert!(kept.iter().all(|(value, slice)| **slice == [*value; 33]));
            }
        }
    }
}
