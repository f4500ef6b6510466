//! Frames that own their arena.
#![cfg(feature = "allocator-api2")]

use allocator_api2::vec::Vec;
use allod_frame::{Arena, OwnedFrame};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A tree whose nodes lie in a frame; covariant in its lifetime.
struct Tree<'a> {
    children: Vec<Tree<'a>, &'a OwnedFrame>,
}

fn tree(memory: &OwnedFrame, depth: u32) -> Tree<'_> {
    let mut children = Vec::new_in(memory);
    if depth > 0 {
        children.extend((0..3).map(|_| tree(memory, depth - 1)));
    }
    Tree { children }
}

impl<'a> Tree<'a> {
    /// Borrowed for as long as its lifetime says: only for a covariant type is that shorter than it lives.
    fn nodes(&'a self) -> usize {
        1 + self.children.iter().map(Tree::nodes).sum::<usize>()
    }
}

#[test]
fn collections_in_an_owned_frame_may_be_borrowed_for_shorter_than_they_live() {
    let memory = OwnedFrame::new();
    let tree = tree(&memory, 4);
    assert_eq!(tree.nodes(), 1 + 3 + 9 + 27 + 81);
    assert_eq!(tree.nodes(), 121);
}

#[test]
fn registered_values_are_dropped_when_the_owner_is_dropped_ended_or_reset() {
    let value = Arc::new(());
    let register = |memory: &OwnedFrame| {
        memory.frame().alloc_drop(value.clone());
        assert_eq!(Arc::strong_count(&value), 2);
    };
    let mut memory = OwnedFrame::new();
    register(&memory);
    memory.reset();
    assert_eq!(Arc::strong_count(&value), 1);
    register(&memory);
    let memory = memory.end().into_frame();
    assert_eq!(Arc::strong_count(&value), 1);
    register(&memory);
    drop(memory);
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn owners_move_and_end_in_any_order() {
    let owners: std::vec::Vec<OwnedFrame> = (0..20u64)
        .map(|n| {
            let memory = OwnedFrame::new();
            memory.frame().alloc_slice_fill(10_000, n);
            memory
        })
        .collect();
    let (even, odd): (std::vec::Vec<_>, std::vec::Vec<_>) =
        owners.into_iter().enumerate().partition(|(n, _)| n % 2 == 0);
    drop(even);
    for (n, owner) in odd {
        let again = owner.frame().alloc(n);
        assert_eq!((*again, owner.frame().used() >= 80_000), (n, true));
    }
}

#[test]
fn an_arena_that_is_kept_takes_no_new_memory() {
    let mut arena = Arena::new();
    let mut reserved = 0;
    for round in 0..5 {
        let memory = arena.into_frame();
        memory.frame().alloc_slice_fill(1 << 20, 1u8);
        arena = memory.end();
        if round == 0 {
            reserved = arena.reserved();
        }
        assert_eq!((arena.reserved(), arena.frames()), (reserved, round + 1));
    }
}

/// Counts itself as long as it lives; its drop panics if it is told to.
struct Counted {
    _alive: Arc<()>,
    panics: bool,
}

impl Drop for Counted {
    fn drop(&mut self) {
        assert!(!self.panics, "a drop that panics");
    }
}

#[test]
fn after_a_drop_that_panics_every_value_was_dropped_once_and_the_owner_goes_on() {
    let value = Arc::new(());
    let fill = |memory: &OwnedFrame| {
        for panics in [false, true, false] {
            memory.frame().alloc_drop(Counted { _alive: value.clone(), panics });
        }
        assert_eq!(Arc::strong_count(&value), 4);
    };
    let mut memory = OwnedFrame::new();
    fill(&memory);
    assert!(catch_unwind(AssertUnwindSafe(|| memory.reset())).is_err());
    assert_eq!(Arc::strong_count(&value), 1);
    fill(&memory);
    assert!(catch_unwind(AssertUnwindSafe(|| memory.reset())).is_err());
    memory.reset();
    assert_eq!((Arc::strong_count(&value), memory.frame().used()), (1, 0));
    fill(&memory);
    assert!(catch_unwind(AssertUnwindSafe(|| drop(memory))).is_err());
    assert_eq!(Arc::strong_count(&value), 1);
    let memory = OwnedFrame::new();
    fill(&memory);
    assert!(catch_unwind(AssertUnwindSafe(|| memory.end())).is_err());
    assert_eq!(Arc::strong_count(&value), 1);
}

#[test]
fn owners_are_exchanged_together_with_their_memory() {
    let (mut one, mut other) = (OwnedFrame::new(), OwnedFrame::new());
    one.frame().alloc_slice_fill(100_000, 1u8);
    let used = one.frame().used();
    std::mem::swap(&mut one, &mut other);
    assert_eq!((one.frame().used(), other.frame().used()), (0, used));
    other.reset();
    let kept = one.frame().alloc(7u64);
    drop(other);
    assert_eq!(*kept, 7);
}
