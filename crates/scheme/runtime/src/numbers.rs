//! Numbers as values and as [`Number`]s.

use crate::failure::{Outcome, wrong_type};
use crate::value::{self, V, types};
pub use allod_scheme_datum::Number;
use num_bigint::{BigInt, BigUint, Sign};
use num_rational::BigRational;
use num_traits::ToPrimitive;

fn uint(digits: &[u64]) -> BigUint {
    BigUint::new(digits.iter().flat_map(|d| [*d as u32, (*d >> 32) as u32]).collect())
}

/// An exact integer.
fn integer(v: V) -> BigInt {
    match v.as_small() {
        Some(i) => i.into(),
        None => {
            let (sign, digits) = v.digits().split_first().expect("a bignum begins with its sign");
            BigInt::from_biguint(if *sign == 1 { Sign::Minus } else { Sign::Plus }, uint(digits))
        }
    }
}

/// The number that a value is.
pub fn of(v: V) -> Option<Number> {
    Some(match v.type_id() {
        0 => Number::Int(v.as_small()?.into()),
        types::FLOAT => Number::Float(f64::from_bits(v.word(1))),
        types::BIGNUM => Number::Int(integer(v)),
        types::RATIO => {
            Number::Ratio(BigRational::new_raw(integer(v.field(1)), integer(v.field(2))))
        }
        _ => return None,
    })
}

/// The same, for argument `which` of a primitive.
pub fn number(who: &str, which: usize, v: V) -> Outcome<Number> {
    match of(v) {
        Some(n) => Ok(n),
        None => wrong_type(who, which, "a number", v),
    }
}

/// An exact integer, or an inexact number that is an integer.
pub enum Whole {
    Exact(BigInt),
    Inexact(f64),
}

pub fn whole(who: &str, which: usize, v: V) -> Outcome<Whole> {
    match of(v) {
        Some(Number::Int(i)) => Ok(Whole::Exact(i)),
        Some(Number::Float(f)) if f.fract() == 0.0 => Ok(Whole::Inexact(f)),
        _ => wrong_type(who, which, "an integer", v),
    }
}

/// A value of a machine integer.
pub fn from_i64(i: i64) -> V {
    let small = V::small(i);
    if small.as_small() == Some(i) { small } else { value::bignum(i < 0, &[i.unsigned_abs()]) }
}

/// A value of an integer of up to two digits.
pub fn from_i128(i: i128) -> V {
    match i64::try_from(i) {
        Ok(i) => from_i64(i),
        Err(_) => {
            let size = i.unsigned_abs();
            let digits = [size as u64, (size >> 64) as u64];
            value::bignum(i < 0, if digits[1] == 0 { &digits[..1] } else { &digits })
        }
    }
}

/// An exact integer that has a machine's size.
pub fn as_i128(v: V) -> Option<i128> {
    if let Some(i) = v.as_small() {
        return Some(i.into());
    }
    if !v.is(types::BIGNUM) {
        return None;
    }
    let size = match *v.digits() {
        [_, low] => u128::from(low),
        [_, low, high] => u128::from(high) << 64 | u128::from(low),
        _ => return None,
    };
    let size = i128::try_from(size).ok()?;
    Some(if v.digits()[0] == 1 { -size } else { size })
}

pub fn from_int(i: &BigInt) -> V {
    match i.to_i64() {
        Some(i) => from_i64(i),
        None => value::bignum(i.sign() == Sign::Minus, &i.magnitude().to_u64_digits()),
    }
}

/// The value of a number.
pub fn to(n: &Number) -> V {
    match n {
        Number::Int(i) => from_int(i),
        Number::Float(f) => value::float(*f),
        Number::Ratio(r) => {
            let (n, d) = (from_int(r.numer()), from_int(r.denom()));
            value::fields(types::RATIO, &[n, d])
        }
    }
}

/// An exact number that is an integer where it is one.
pub fn to_exact(r: BigRational) -> V {
    to(&Number::exact(r))
}
