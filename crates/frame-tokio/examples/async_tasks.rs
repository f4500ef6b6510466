//! Asynchronous tasks with an arena each: they read their input piece by piece, with an `.await`
//! between two, and keep what they have read in the arena. Then what it costs.
//!
//! `cargo run --release --example async_tasks`

use allocator_api2::alloc::{Allocator, Global};
use allocator_api2::{boxed::Box, vec::Vec};
use allod_frame::task::{self, TaskAlloc, TaskArena};
use std::hint::black_box;
use std::time::{Duration, Instant};
use tokio::runtime::Builder;
use tokio::sync::mpsc;
use tokio::task::yield_now;

const TASKS: usize = 2000;
const LINES: usize = 20;

/// A word and how often it came.
type Count<A> = Box<(Vec<u8, A>, usize), A>;

/// Counts the words of lines as they come: the same wherever `memory` is.
async fn count<A: Allocator + Clone>(mut lines: mpsc::Receiver<String>, memory: A) -> usize {
    let mut counts: Vec<Count<A>, A> = Vec::new_in(memory.clone());
    while let Some(line) = lines.recv().await {
        for word in line.split_whitespace() {
            match counts.iter_mut().find(|count| *count.0 == *word.as_bytes()) {
                Some(count) => count.1 += 1,
                None => {
                    let mut text = Vec::new_in(memory.clone());
                    text.extend_from_slice(word.as_bytes());
                    counts.push(Box::new_in((text, 1), memory.clone()));
                }
            }
        }
    }
    counts.iter().map(|count| count.0.len() * count.1).sum()
}

/// Sends a task its lines.
fn send() -> mpsc::Receiver<String> {
    let (to_task, lines) = mpsc::channel(4);
    tokio::spawn(async move {
        for n in 0..LINES {
            let line = format!("the {n} quick brown foxes {} over the lazy dogs {}", n / 2, n / 3);
            to_task.send(line).await.expect("the task reads to the end");
        }
    });
    lines
}

async fn all(on_arenas: bool) -> (Duration, usize) {
    let begin = Instant::now();
    let running: std::vec::Vec<_> = (0..TASKS)
        .map(|_| {
            let lines = send();
            match on_arenas {
                true => {
                    allod_frame_tokio::spawn(async { count(lines, TaskAlloc::current()).await })
                }
                false => tokio::spawn(count(lines, Global)),
            }
        })
        .collect();
    let mut letters = 0;
    for task in running {
        letters += task.await.expect("no task panics");
    }
    (begin.elapsed(), letters)
}

/// Nanoseconds that `work` takes, the best of many.
fn nanoseconds(mut work: impl FnMut()) -> f64 {
    const TIMES: u32 = 1000;
    let best = (0..50)
        .map(|_| {
            let begin = Instant::now();
            (0..TIMES).for_each(|_| work());
            begin.elapsed()
        })
        .min();
    best.unwrap_or_default().as_secs_f64() * 1e9 / f64::from(TIMES)
}

/// Prints what the parts of a task's arena cost.
fn prices() {
    let mut arena = TaskArena::new();
    println!("take an arena and give it back {:6.1} ns", nanoseconds(|| drop(TaskArena::new())));
    let open = nanoseconds(|| drop(arena.enter(|| TaskAlloc::try_current().map(black_box))));
    println!("open it and look it up         {open:6.1} ns");
    let boxed = arena.enter(|| nanoseconds(|| drop(black_box(task::boxed(7u64)))));
    println!("box a number and drop it       {boxed:6.1} ns");
    let kept = arena.enter(|| nanoseconds(|| drop(task::keep(|f| f.alloc(7u64)))));
    println!("keep a number                  {kept:6.1} ns");
    let heap = nanoseconds(|| drop(black_box(std::boxed::Box::new(7u64))));
    println!("box it on the heap             {heap:6.1} ns");
}

/// Runs the example.
pub fn main() {
    let runtime = Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    let (mut arenas, mut heap) = (Duration::MAX, Duration::MAX);
    runtime.block_on(async {
        for _ in 0..5 {
            let (time, letters) = all(true).await;
            arenas = arenas.min(time);
            let (time, same) = all(false).await;
            heap = heap.min(time);
            assert_eq!(letters, same);
            yield_now().await;
        }
    });
    println!("{TASKS} tasks on arenas {arenas:.1?}, on the heap {heap:.1?}");
    prices();
}
