//! Strings and symbols.

use crate::bytes;
use crate::chars::fold;
use crate::failure::{Failure, Outcome, wrong_type};
use crate::lists::length;
use crate::primitives;
use crate::value::{self, V, types};
use crate::vectors::{self, range, size, target, writable};
use crate::word::text_of;
use std::cmp::Ordering;

pub fn checked(who: &str, which: usize, v: V) -> Outcome<V> {
    if v.is(types::STRING) { Ok(v) } else { wrong_type(who, which, "a string", v) }
}

fn char(who: &str, which: usize, v: V) -> Outcome<u32> {
    match v.as_char() {
        Some(c) => Ok(c.into()),
        None => wrong_type(who, which, "a character", v),
    }
}

fn part<'a>(who: &str, s: V, start: V, end: V) -> Outcome<&'a [u32]> {
    let chars = checked(who, 1, s)?.chars();
    let range = range(who, 2, start, end, chars.len())?;
    Ok(&chars[range])
}

fn char_value(c: &u32) -> V {
    V(u64::from(*c) << 8 | 0x1A)
}

fn mapped(who: &str, s: V, map: impl Fn(&str) -> String) -> Outcome<V> {
    Ok(value::string(&map(&checked(who, 1, s)?.text())))
}

/// Full case folding: what `fold` does, and the one letter that becomes two.
fn folded(text: &str) -> String {
    let mut all = String::new();
    for c in text.chars() {
        if c == 'ß' || c == 'ẞ' { all += "ss" } else { all.push(fold(c)) }
    }
    all
}

primitives! {
    fn sch_symbol_to_string(a) -> V {
        if a.is(types::SYMBOL) {
            Ok(value::string(a.symbol_name()))
        } else {
            wrong_type("symbol->string", 1, "a symbol", a)
        }
    }
    fn sch_string_to_symbol(a) -> V { Ok(value::symbol(&checked("string->symbol", 1, a)?.text())) }

    fn sch_make_string(k, c) -> V {
        let len = size("make-string", k)?;
        let fill = c.given().map_or(Ok(' '.into()), |c| char("make-string", 2, c))?;
        let s = value::blank(len);
        s.chars().fill(fill);
        Ok(s)
    }
    fn sch_string_compare(a, b) -> V {
        let (a, b) = (checked("a comparison of strings", 1, a)?, checked("a comparison of strings", 2, b)?);
        Ok(V::small(match (*a.chars()).cmp(&*b.chars()) {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        }))
    }
    fn sch_string_append(list) -> V {
        let all = list.list().unwrap_or_default();
        let mut len = 0;
        for (i, s) in all.iter().enumerate() {
            len += checked("string-append", i + 1, *s)?.len();
        }
        let whole = value::blank(len);
        let mut room = whole.chars();
        for part in all.iter().map(|s| s.chars()) {
            let (to, rest) = room.split_at_mut(part.len());
            to.copy_from_slice(part);
            room = rest;
        }
        Ok(whole)
    }
    fn sch_string_copy(s, start, end) -> V { Ok(value::string_of(part("string-copy", s, start, end)?)) }
    fn sch_substring(s, start, end) -> V { Ok(value::string_of(part("substring", s, start, end)?)) }
    fn sch_string_copy_x(to, at, from, start, end) {
        let who = "string-copy!";
        let len = writable(who, checked(who, 1, to)?)?.len();
        let range = range(who, 4, start, end, checked(who, 3, from)?.len())?;
        let place = target(who, at, len, &range)?;
        if to == from {
            to.chars().copy_within(range, place);
        } else {
            to.chars()[place..place + range.len()].copy_from_slice(&from.chars()[range]);
        }
        Ok(())
    }
    fn sch_string_fill_x(s, c, start, end) {
        let chars = writable("string-fill!", checked("string-fill!", 1, s)?)?.chars();
        let c = char("string-fill!", 2, c)?;
        let range = range("string-fill!", 3, start, end, chars.len())?;
        chars[range].fill(c);
        Ok(())
    }
    fn sch_string_to_list(s, start, end) -> V {
        let chars = part("string->list", s, start, end)?;
        Ok(chars.iter().rfold(V::NIL, |rest, c| value::cons(char_value(c), rest)))
    }
    fn sch_list_to_string(list) -> V {
        let Some(len) = length(list) else {
            return wrong_type("list->string", 1, "a list of characters", list);
        };
        let (s, mut rest) = (value::blank(len), list);
        for (i, to) in s.chars().iter_mut().enumerate() {
            *to = char("string", i + 1, rest.car())?;
            rest = rest.cdr();
        }
        Ok(s)
    }
    fn sch_string_to_vector(s, start, end) -> V {
        let all: Vec<V> = part("string->vector", s, start, end)?.iter().map(char_value).collect();
        Ok(value::vector_of(&all))
    }
    fn sch_vector_to_string(v, start, end) -> V {
        let items = vectors::checked("vector->string", 1, v)?.items();
        let range = range("vector->string", 2, start, end, items.len())?;
        let chars: Option<Vec<u32>> = items[range].iter().map(|c| c.as_char().map(u32::from)).collect();
        match chars {
            Some(chars) => Ok(value::string_of(&chars)),
            None => wrong_type("vector->string", 1, "a vector of characters", v),
        }
    }
    fn sch_string_upcase(s) -> V { mapped("string-upcase", s, str::to_uppercase) }
    fn sch_string_downcase(s) -> V { mapped("string-downcase", s, str::to_lowercase) }
    fn sch_string_foldcase(s) -> V { mapped("string-foldcase", s, folded) }

    fn sch_string_to_utf8(s, start, end) -> V {
        Ok(value::bytes(text_of(part("string->utf8", s, start, end)?).as_bytes()))
    }
    fn sch_utf8_to_string(b, start, end) -> V {
        let all = bytes::checked("utf8->string", 1, b)?.bytes();
        let range = range("utf8->string", 2, start, end, all.len())?;
        match std::str::from_utf8(&all[range]) {
            Ok(text) => Ok(value::string(text)),
            Err(_) => Err(Failure::new("utf8->string: these bytes are not UTF-8:", &[b])),
        }
    }
}
