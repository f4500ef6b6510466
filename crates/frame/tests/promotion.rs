//! Values that leave their frame for a region.
#![cfg(feature = "region")]

use allod_frame::Arena;
use allod_region::{Region, Slot, Value};
use allod_region_derive::Trace;

#[derive(Clone, Trace)]
struct Named<'r> {
    number: u64,
    name: Value<'r>,
}

#[derive(Trace)]
struct Tree<'r> {
    children: Slot<'r>,
}

#[test]
fn promoted_values_live_as_long_as_their_region() {
    let region = Region::new();
    let mut arena = Arena::new();
    let promoted: Vec<_> = (0..1000u64)
        .map(|i| {
            arena.frame(|f| {
                let name = region.string(f.alloc_fmt(format_args!("value {i}")));
                let value = f.alloc(Named { number: i, name });
                f.promote_to_region(value, &region)
            })
        })
        .collect();
    // What the frames held is written over.
    arena.frame(|f| f.alloc_slice_fill(1 << 20, 0xFFu8).len());
    for (i, value) in promoted.iter().enumerate() {
        assert_eq!(value.number, i as u64);
        assert_eq!(value.name.as_str(), Some(format!("value {i}").as_str()));
    }
}

#[test]
fn values_of_a_region_that_ends_are_brought_along() {
    let outer = Region::new();
    let kept = outer.scope(|inner| {
        let named = Arena::new().frame(|f| {
            let value = f.alloc(Named { number: 7, name: inner.string("inner") });
            f.promote_to_region(value, inner)
        });
        named.value()
    });
    let kept = kept.get_as::<Named>().unwrap();
    assert_eq!((kept.number, kept.name.as_str()), (7, Some("inner")));
}

#[test]
fn a_promoted_value_can_be_stored_in_others() {
    let region = Region::new();
    let tree = region.alloc(Tree { children: Slot::new(Value::NIL) });
    let text = Arena::new().frame(|f| f.try_promote_str_to_region("leaf", &region)).unwrap();
    tree.children.set(text).unwrap();
    assert_eq!(tree.children.get().as_str(), Some("leaf"));
}
