//! Vectors.

use crate::failure::{Failure, Outcome, out_of_range, wrong_type};
use crate::primitives;
use crate::state;
use crate::value::{self, V, types};
use std::ops::Range;

/// An index of at most `most`.
pub fn index(who: &str, which: usize, v: V, most: usize) -> Outcome<usize> {
    match v.as_small() {
        Some(i) if i >= 0 && i as u64 <= most as u64 => Ok(i as usize),
        Some(_) => out_of_range(who, which, v),
        None => wrong_type(who, which, "an index", v),
    }
}

/// The optional arguments `start` and `end`, the first of which is argument `which`.
pub fn range(who: &str, which: usize, start: V, end: V, len: usize) -> Outcome<Range<usize>> {
    let end_at = end.given().map_or(Ok(len), |end| index(who, which + 1, end, len))?;
    let start_at = start.given().map_or(Ok(0), |start| index(who, which, start, len))?;
    if start_at > end_at { out_of_range(who, which, start) } else { Ok(start_at..end_at) }
}

/// Checks that a value may be written.
pub fn writable(who: &str, v: V) -> Outcome<V> {
    if state::is_constant(v) {
        return Err(Failure::new(format!("{who}: a constant cannot be changed:"), &[v]));
    }
    Ok(v)
}

/// The number of elements that something new shall have.
pub fn size(who: &str, k: V) -> Outcome<usize> {
    match k.as_small() {
        Some(n) if (0..1 << 40).contains(&n) => Ok(n as usize),
        _ => wrong_type(who, 1, "a length", k),
    }
}

pub fn checked(who: &str, which: usize, v: V) -> Outcome<V> {
    if v.is(types::ARRAY) { Ok(v) } else { wrong_type(who, which, "a vector", v) }
}

/// Where `from` goes when it is copied to `at`; fails where that is too much.
pub fn target(who: &str, at: V, len: usize, from: &Range<usize>) -> Outcome<usize> {
    let place = index(who, 2, at, len)?;
    if from.len() > len - place { out_of_range(who, 2, at) } else { Ok(place) }
}

primitives! {
    fn sch_make_vector(k, fill) -> V {
        Ok(value::vector(size("make-vector", k)?, fill.given().unwrap_or(V::UNSPECIFIED)))
    }

    fn sch_vector_to_list(v, start, end) -> V {
        let items = checked("vector->list", 1, v)?.items();
        Ok(value::list(&items[range("vector->list", 2, start, end, items.len())?]))
    }

    fn sch_list_to_vector(list) -> V {
        match list.list() {
            Some(items) => Ok(value::vector_of(&items)),
            None => wrong_type("list->vector", 1, "a list", list),
        }
    }

    fn sch_vector_fill_x(v, fill, start, end) {
        let items = writable("vector-fill!", checked("vector-fill!", 1, v)?)?.items();
        let range = range("vector-fill!", 3, start, end, items.len())?;
        items[range].fill(fill);
        Ok(())
    }

    fn sch_vector_copy(v, start, end) -> V {
        let items = checked("vector-copy", 1, v)?.items();
        Ok(value::vector_of(&items[range("vector-copy", 2, start, end, items.len())?]))
    }

    fn sch_vector_copy_x(to, at, from, start, end) {
        let who = "vector-copy!";
        let len = writable(who, checked(who, 1, to)?)?.len();
        let range = range(who, 4, start, end, checked(who, 3, from)?.len())?;
        let place = target(who, at, len, &range)?;
        if to == from {
            to.items().copy_within(range, place);
        } else {
            to.items()[place..place + range.len()].copy_from_slice(&from.items()[range]);
        }
        Ok(())
    }

    fn sch_vector_append(list) -> V {
        let mut all = Vec::new();
        for (i, v) in list.list().unwrap_or_default().into_iter().enumerate() {
            all.extend_from_slice(checked("vector-append", i + 1, v)?.items());
        }
        Ok(value::vector_of(&all))
    }
}
