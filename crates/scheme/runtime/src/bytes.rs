//! Bytevectors.

use crate::failure::{Outcome, wrong_type};
use crate::primitives;
use crate::value::{self, V, types};
use crate::vectors::{range, size, target, writable};

pub fn checked(who: &str, which: usize, v: V) -> Outcome<V> {
    if v.is(types::BYTES) { Ok(v) } else { wrong_type(who, which, "a bytevector", v) }
}

pub fn byte(who: &str, which: usize, v: V) -> Outcome<u8> {
    match v.as_small().and_then(|i| u8::try_from(i).ok()) {
        Some(byte) => Ok(byte),
        None => wrong_type(who, which, "a byte", v),
    }
}

primitives! {
    fn sch_make_bytevector(k, fill) -> V {
        let len = size("make-bytevector", k)?;
        let fill = fill.given().map_or(Ok(0), |fill| byte("make-bytevector", 2, fill))?;
        Ok(value::bytes(&vec![fill; len]))
    }

    fn sch_list_to_bytevector(list) -> V {
        let items = list.list().unwrap_or_default();
        let all: Outcome<Vec<u8>> =
            items.iter().enumerate().map(|(i, v)| byte("bytevector", i + 1, *v)).collect();
        Ok(value::bytes(&all?))
    }

    fn sch_bytevector_copy(b, start, end) -> V {
        let bytes = checked("bytevector-copy", 1, b)?.bytes();
        Ok(value::bytes(&bytes[range("bytevector-copy", 2, start, end, bytes.len())?]))
    }

    fn sch_bytevector_copy_x(to, at, from, start, end) {
        let who = "bytevector-copy!";
        let len = writable(who, checked(who, 1, to)?)?.len();
        let range = range(who, 4, start, end, checked(who, 3, from)?.len())?;
        let place = target(who, at, len, &range)?;
        if to == from {
            to.bytes().copy_within(range, place);
        } else {
            to.bytes()[place..place + range.len()].copy_from_slice(&from.bytes()[range]);
        }
        Ok(())
    }

    fn sch_bytevector_append(list) -> V {
        let mut all = Vec::new();
        for (i, b) in list.list().unwrap_or_default().into_iter().enumerate() {
            all.extend_from_slice(checked("bytevector-append", i + 1, b)?.bytes());
        }
        Ok(value::bytes(&all))
    }
}
