//! A heap per request: its collections go all at once, and the compiler refuses to let any outlive it.

use allocator_api2::vec::Vec;
use allod::Heap;
use hashbrown::HashMap;

#[global_allocator]
static A: allod::Allod = allod::Allod;

/// The words of a request that occur most often, with how often they do.
fn answer(request: &str) -> String {
    let heap = Heap::new();
    let mut count = HashMap::new_in(&heap);
    for word in request.split(' ') {
        *count.entry(word).or_insert(0) += 1;
    }
    let mut sorted = Vec::new_in(&heap);
    sorted.extend(count.iter().map(|(word, times)| (*times, *word)));
    sorted.sort_by(|a, b| b.cmp(a));
    sorted.iter().take(2).map(|(times, word)| format!("{word} {times} ")).collect()
}

fn main() {
    let answered = answer("a rose is a rose is a rose");
    println!("{answered}");
    assert_eq!(answered, "rose 3 a 3 ");
}
