//! What arenas of tasks promise about memory, seen from outside the process.

mod on_tokio;

use allod_frame::task;
use on_tokio::spawn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::runtime::Builder;
use tokio::task::yield_now;

/// Tests that look at the process's memory run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Resident bytes of this process.
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[test]
fn a_hundred_thousand_tasks_do_not_grow_memory() {
    let _alone = alone();
    async fn wave(tasks: usize) {
        let running: Vec<_> = (0..tasks)
            .map(|n| {
                spawn(async move {
                    let bytes = task::keep(|f| f.alloc_slice_fill(20_000, n as u8));
                    yield_now().await;
                    assert!(bytes.iter().all(|&b| b == n as u8));
                })
            })
            .collect();
        for task in running {
            task.await.unwrap();
        }
    }
    Builder::new_multi_thread().worker_threads(4).build().unwrap().block_on(async {
        for _ in 0..10 {
            wave(1000).await;
        }
        let before = resident();
        for _ in 0..100 {
            wave(1000).await;
        }
        let grown = resident().saturating_sub(before);
        // What they allocate in all is 2 GB.
        assert!(grown < 40 << 20, "{} MiB more after 100,000 tasks", grown >> 20);
    });
}

#[test]
fn small_tasks_that_live_at_once_cost_two_kilobytes_each() {
    const TASKS: usize = 20_000;
    let _alone = alone();
    Builder::new_current_thread().build().unwrap().block_on(async {
        let before = resident();
        let (go, _) = tokio::sync::broadcast::channel::<()>(1);
        let waiting: Vec<_> = (0..TASKS)
            .map(|n| {
                let mut wait = go.subscribe();
                spawn(async move {
                    let held = task::keep(|f| f.alloc_slice_fill(100, n));
                    let mut grown = task::vec();
                    grown.push(n);
                    let _gone = wait.recv().await;
                    assert!(held.iter().chain(&grown).all(|&m| m == n));
                })
            })
            .collect();
        // On one thread each has run up to its wait when this goes on.
        yield_now().await;
        let each = resident().saturating_sub(before) / TASKS;
        drop(go);
        for task in waiting {
            task.await.unwrap();
        }
        assert!(each < 4 << 10, "{each} bytes a task, with the executor's own");
    });
}
