//! Lists.

use crate::failure::{Outcome, out_of_range, wrong_type};
use crate::primitives;
use crate::value::{self, V};

/// The length of a proper list; none for what is none.
pub fn length(x: V) -> Option<usize> {
    let (mut slow, mut fast, mut n) = (x, x, 0);
    loop {
        if fast == V::NIL {
            return Some(n);
        }
        if !fast.is_pair() {
            return None;
        }
        fast = fast.cdr();
        n += 1;
        if n % 2 == 0 {
            slow = slow.cdr();
            if slow == fast {
                return None;
            }
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_list_p(x: V) -> bool {
    length(x).is_some()
}

/// A copy of a list's pairs, of which the last leads to `end`.
fn copied(list: V, end: V) -> V {
    if !list.is_pair() {
        return end;
    }
    let first = value::cons(list.car(), end);
    let (mut last, mut rest) = (first, list.cdr());
    while rest.is_pair() {
        let next = value::cons(rest.car(), end);
        last.set_cdr(next);
        (last, rest) = (next, rest.cdr());
    }
    first
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_list_copy(x: V) -> V {
    let mut end = x;
    while end.is_pair() {
        end = end.cdr();
    }
    copied(x, end)
}

fn tail(who: &str, x: V, k: V) -> Outcome<V> {
    let Some(n) = k.as_small().filter(|n| *n >= 0) else {
        return wrong_type(who, 2, "an index", k);
    };
    let mut rest = x;
    for _ in 0..n {
        if !rest.is_pair() {
            return out_of_range(who, 2, k);
        }
        rest = rest.cdr();
    }
    Ok(rest)
}

primitives! {
    fn sch_length(x) -> V {
        match length(x) {
            Some(n) => Ok(V::small(n as i64)),
            None => wrong_type("length", 1, "a list", x),
        }
    }

    fn sch_append2(a, b) -> V {
        if length(a).is_none() {
            return wrong_type("append", 1, "a list", a);
        }
        Ok(copied(a, b))
    }

    fn sch_reverse(x) -> V {
        // Brent's way to notice a circle: a node that is looked at again after twice as many steps.
        let (mut rest, mut done, mut seen, mut left, mut steps) = (x, V::NIL, V::NIL, 1_u64, 1_u64);
        while rest.is_pair() {
            done = value::cons(rest.car(), done);
            rest = rest.cdr();
            left -= 1;
            if rest == seen && rest != V::NIL {
                break;
            }
            if left == 0 {
                (seen, steps) = (rest, 2 * steps);
                left = steps;
            }
        }
        if rest == V::NIL { Ok(done) } else { wrong_type("reverse", 1, "a list", x) }
    }

    fn sch_list_tail(x, k) -> V { tail("list-tail", x, k) }

    fn sch_list_ref(x, k) -> V {
        let rest = tail("list-ref", x, k)?;
        if rest.is_pair() { Ok(rest.car()) } else { out_of_range("list-ref", 2, k) }
    }

    fn sch_make_list(k, fill) -> V {
        let Some(n) = k.as_small().filter(|n| *n >= 0) else {
            return wrong_type("make-list", 1, "an index", k);
        };
        let fill = fill.given().unwrap_or(V::UNSPECIFIED);
        Ok((0..n).fold(V::NIL, |rest, _| value::cons(fill, rest)))
    }
}
