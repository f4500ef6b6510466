//! `eqv?` and `equal?`.

use crate::foreign;
use crate::numbers;
use crate::value::{V, types};
use std::collections::HashMap;

/// `eqv?` of two objects.
#[unsafe(no_mangle)]
pub extern "C" fn sch_eqv_slow(a: V, b: V) -> bool {
    match (a.type_id(), b.type_id()) {
        (types::FLOAT, types::FLOAT) => {
            let (a, b) = (f64::from_bits(a.word(1)), f64::from_bits(b.word(1)));
            a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
        }
        (types::BIGNUM, types::BIGNUM) => a.digits() == b.digits(),
        (types::RATIO, types::RATIO) => numbers::of(a) == numbers::of(b),
        (types::POINTER, types::POINTER) => foreign::same(a, b),
        // Empty strings, vectors and bytevectors are as good as the same.
        _ => a == b,
    }
}

fn eqv(a: V, b: V) -> bool {
    a == b || (a.is_headed() && b.is_headed() && sch_eqv_slow(a, b))
}

/// Steps after which pairs of objects are remembered, because there may be circles.
const PATIENCE: usize = 100_000;

/// `equal?` of two objects, which may be circular: they are equal when their unfoldings are.
#[unsafe(no_mangle)]
pub extern "C" fn sch_equal_slow(a: V, b: V) -> bool {
    let mut waiting = vec![(a, b)];
    let mut steps = 0;
    let mut classes = Classes::default();
    while let Some((a, b)) = waiting.pop() {
        if eqv(a, b) {
            continue;
        }
        if a.type_id() != b.type_id() || !a.is_object() {
            return false;
        }
        match a.type_id() {
            types::STRING if a.chars() == b.chars() => continue,
            types::BYTES if a.bytes() == b.bytes() => continue,
            types::PAIR => {}
            types::ARRAY if a.len() == b.len() => {}
            _ => return false,
        }
        steps += 1;
        if steps > PATIENCE && classes.united(a, b) {
            continue;
        }
        if a.is_pair() {
            waiting.push((a.cdr(), b.cdr()));
            waiting.push((a.car(), b.car()));
        } else {
            waiting.extend(a.items().iter().copied().zip(b.items().iter().copied()));
        }
    }
    true
}

/// Objects that are taken to be equal (union and find), so that circles end.
#[derive(Default)]
struct Classes {
    parent: HashMap<V, V>,
}

impl Classes {
    fn root(&mut self, v: V) -> V {
        let mut root = v;
        while let Some(&up) = self.parent.get(&root) {
            root = up;
        }
        let mut at = v;
        while at != root {
            let up = self.parent.insert(at, root).expect("each on the way has a parent");
            at = up;
        }
        root
    }

    /// Puts two objects into one class; true when they were in one before.
    fn united(&mut self, a: V, b: V) -> bool {
        let (a, b) = (self.root(a), self.root(b));
        if a != b {
            self.parent.insert(a, b);
        }
        a == b
    }
}
