//! Characters, with all of Unicode.

use crate::failure::{Outcome, wrong_type};
use crate::primitives;
use crate::value::V;

fn checked(who: &str, c: V) -> Outcome<char> {
    match c.as_char() {
        Some(c) => Ok(c),
        None => wrong_type(who, 1, "a character", c),
    }
}

/// The one character that a mapping gives; where that gives several, the one that Unicode names beside them.
fn one(c: char, mut mapped: impl Iterator<Item = char>) -> V {
    match (mapped.next(), mapped.next()) {
        (Some(single), None) => V::char(single),
        _ => V::char(beside(c)),
    }
}

/// Of the characters whose upper or lower case is several characters, those that have a single one, too.
fn beside(c: char) -> char {
    let other = match c {
        'İ' => u32::from('i'),
        // Greek letters with an iota below, whose capitals have it beside them.
        '\u{1F80}'..='\u{1F87}' | '\u{1F90}'..='\u{1F97}' | '\u{1FA0}'..='\u{1FA7}' => c as u32 + 8,
        'ᾳ' | 'ῃ' | 'ῳ' => c as u32 + 9,
        _ => return c,
    };
    char::from_u32(other).unwrap_or(c)
}

/// The character that stands for its variants of case, after Unicode's simple case folding.
pub fn fold(c: char) -> char {
    let same_class = match c {
        // Neither has an upper case that leads back to it.
        'İ' | 'ı' => return c,
        // Cherokee folds to its upper case.
        '\u{13F8}'..='\u{13FD}' => return char::from_u32(c as u32 - 8).unwrap_or(c),
        '\u{AB70}'..='\u{ABBF}' => return char::from_u32(c as u32 - 0xAB70 + 0x13A0).unwrap_or(c),
        '\u{13A0}'..='\u{13F5}' => return c,
        // Capital sharp s.
        'ẞ' => return 'ß',
        c => c,
    };
    let mut upper = same_class.to_uppercase();
    let upper = match (upper.next(), upper.next()) {
        (Some(u), None) => u,
        _ => same_class,
    };
    let mut lower = upper.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(l), None) => l,
        _ => upper,
    }
}

/// The first characters of Unicode's runs of ten decimal digits.
const ZEROS: &[u32] = &[
    0x30, 0x660, 0x6F0, 0x7C0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66,
    0xDE6, 0xE50, 0xED0, 0xF20, 0x1040, 0x1090, 0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90,
    0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0, 0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10,
    0x104A0, 0x10D30, 0x10D40, 0x11066, 0x110F0, 0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0,
    0x11650, 0x116C0, 0x116D0, 0x116DA, 0x11730, 0x118E0, 0x11950, 0x11BF0, 0x11C50, 0x11D50,
    0x11DA0, 0x11F50, 0x16130, 0x16A60, 0x16AC0, 0x16B50, 0x16D70, 0x1CCF0, 0x1D7CE, 0x1D7D8,
    0x1D7E2, 0x1D7EC, 0x1D7F6, 0x1E140, 0x1E2F0, 0x1E4F0, 0x1E5F1, 0x1E950, 0x1FBF0,
];

fn digit(c: char) -> Option<u32> {
    let code = u32::from(c);
    let run = ZEROS.partition_point(|zero| *zero <= code).checked_sub(1)?;
    Some(code - ZEROS[run]).filter(|value| *value < 10)
}

primitives! {
    fn sch_integer_to_char(a) -> V {
        match a.as_small().and_then(|i| u32::try_from(i).ok()).and_then(char::from_u32) {
            Some(c) => Ok(V::char(c)),
            None => wrong_type("integer->char", 1, "the number of a character", a),
        }
    }
    fn sch_char_alphabetic_p_any(c) -> bool { Ok(checked("char-alphabetic?", c)?.is_alphabetic()) }
    fn sch_char_numeric_p_any(c) -> bool { Ok(digit(checked("char-numeric?", c)?).is_some()) }
    fn sch_char_whitespace_p_any(c) -> bool { Ok(checked("char-whitespace?", c)?.is_whitespace()) }
    fn sch_char_upper_case_p_any(c) -> bool { Ok(checked("char-upper-case?", c)?.is_uppercase()) }
    fn sch_char_lower_case_p_any(c) -> bool { Ok(checked("char-lower-case?", c)?.is_lowercase()) }
    fn sch_char_upcase_any(c) -> V { let c = checked("char-upcase", c)?; Ok(one(c, c.to_uppercase())) }
    fn sch_char_downcase_any(c) -> V { let c = checked("char-downcase", c)?; Ok(one(c, c.to_lowercase())) }
    fn sch_char_foldcase(c) -> V { Ok(V::char(fold(checked("char-foldcase", c)?))) }
    fn sch_digit_value(c) -> V {
        Ok(digit(checked("digit-value", c)?).map_or(V::FALSE, |d| V::small(d.into())))
    }
}
