//! Task arenas: each job carries an arena along from thread to thread, stage by stage, and the last
//! stage gives it back for the next job.

use allod_frame::{Arena, Finished};
use std::sync::mpsc::channel;

/// The letters of a text, counted; made on one thread, sorted on the next, used on a third.
type Counts = Finished<[(u8, usize)]>;

/// Runs the example.
pub fn main() {
    let (to_count, texts) = channel::<(Arena, String)>();
    let (to_sort, counted) = channel::<Counts>();
    let (to_use, sorted) = channel::<Counts>();

    let count = std::thread::spawn(move || {
        for (arena, text) in texts {
            let counts = arena.finish(|f| {
                let letters = f.alloc_slice_copy(text.as_bytes());
                letters.sort_unstable();
                f.alloc_slice_from_iter(letters.chunk_by(|a, b| a == b).map(|l| (l[0], l.len())))
            });
            to_sort.send(counts).expect("the next stage runs");
        }
    });
    let sort = std::thread::spawn(move || {
        for mut counts in counted {
            counts.sort_by_key(|&(letter, n)| (std::cmp::Reverse(n), letter));
            to_use.send(counts).expect("the next stage runs");
        }
    });

    // Two arenas serve all jobs.
    let mut arenas = vec![Arena::new(), Arena::new()];
    let mut done = 0;
    for job in 0..1000 {
        let arena = arenas.pop().unwrap_or_else(|| {
            let counts = sorted.recv().expect("the stages run");
            assert!(counts.contains(&(b'l', 3)));
            done += 1;
            counts.recycle()
        });
        to_count.send((arena, format!("hello world {job}"))).expect("the first stage runs");
    }
    drop(to_count);
    done += sorted.iter().filter(|counts| counts.contains(&(b'l', 3))).count();
    count.join().unwrap();
    sort.join().unwrap();
    println!("{done} jobs done with two arenas");
    assert_eq!(done, 1000);
}
