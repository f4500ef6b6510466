//! Lists.

use crate::equality::{eqv, sch_equal_slow};
use crate::failure::{Outcome, out_of_range, wrong_type};
use crate::primitives;
use crate::value::{self, V};

/// The length of a proper list; none for what is none.
fn length(x: V) -> Option<usize> {
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

#[unsafe(no_mangle)]
pub extern "C" fn sch_list_copy(x: V) -> V {
    let mut items = Vec::new();
    let mut rest = x;
    while rest.is_pair() {
        items.push(rest.car());
        rest = rest.cdr();
    }
    items.iter().rfold(rest, |rest, item| value::cons(*item, rest))
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

/// What is left of a list from the first item that is the same as `x`.
fn member(who: &str, list: V, same: impl Fn(V) -> bool) -> Outcome<V> {
    let mut rest = list;
    while rest.is_pair() {
        if same(rest.car()) {
            return Ok(rest);
        }
        rest = rest.cdr();
    }
    if rest == V::NIL { Ok(V::FALSE) } else { wrong_type(who, 2, "a list", list) }
}

fn assoc(who: &str, list: V, same: impl Fn(V) -> bool) -> Outcome<V> {
    let mut rest = list;
    while rest.is_pair() {
        let entry = rest.car();
        if !entry.is_pair() {
            return wrong_type(who, 2, "a list of pairs", list);
        }
        if same(entry.car()) {
            return Ok(entry);
        }
        rest = rest.cdr();
    }
    if rest == V::NIL { Ok(V::FALSE) } else { wrong_type(who, 2, "a list", list) }
}

fn equal(a: V, b: V) -> bool {
    a == b || (a.is_object() && b.is_object() && sch_equal_slow(a, b))
}

primitives! {
    fn sch_length(x) -> V {
        match length(x) {
            Some(n) => Ok(V::small(n as i64)),
            None => wrong_type("length", 1, "a list", x),
        }
    }

    fn sch_append2(a, b) -> V {
        let Some(items) = length(a).and_then(|_| a.list()) else {
            return wrong_type("append", 1, "a list", a);
        };
        Ok(items.iter().rfold(b, |rest, item| value::cons(*item, rest)))
    }

    fn sch_reverse(x) -> V {
        if length(x).is_none() {
            return wrong_type("reverse", 1, "a list", x);
        }
        let (mut rest, mut done) = (x, V::NIL);
        while rest.is_pair() {
            done = value::cons(rest.car(), done);
            rest = rest.cdr();
        }
        Ok(done)
    }

    fn sch_list_tail(x, k) -> V { tail("list-tail", x, k) }

    fn sch_list_ref(x, k) -> V {
        let rest = tail("list-ref", x, k)?;
        if rest.is_pair() { Ok(rest.car()) } else { out_of_range("list-ref", 2, k) }
    }

    fn sch_memq(x, list) -> V { member("memq", list, |item| item == x) }
    fn sch_memv(x, list) -> V { member("memv", list, |item| eqv(item, x)) }
    fn sch_member(x, list) -> V { member("member", list, |item| equal(item, x)) }
    fn sch_assq(x, list) -> V { assoc("assq", list, |key| key == x) }
    fn sch_assv(x, list) -> V { assoc("assv", list, |key| eqv(key, x)) }
    fn sch_assoc(x, list) -> V { assoc("assoc", list, |key| equal(key, x)) }

    fn sch_make_list(k, fill) -> V {
        let Some(n) = k.as_small().filter(|n| *n >= 0) else {
            return wrong_type("make-list", 1, "an index", k);
        };
        let fill = fill.given().unwrap_or(V::UNSPECIFIED);
        Ok((0..n).fold(V::NIL, |rest, _| value::cons(fill, rest)))
    }
}
