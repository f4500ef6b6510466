//! Arithmetic: what the inlined functions leave over.

use crate::failure::{Failure, Outcome, wrong_type};
use crate::numbers::{self, Number, Whole, from_int, number, of, to, to_exact, whole};
use crate::primitives;
use crate::value::{self, V};
use allod_scheme_datum::number::{may_begin, parse, write};
use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;

fn rational(n: Number) -> BigRational {
    match n {
        Number::Int(i) => BigRational::from_integer(i),
        Number::Ratio(r) => r,
        Number::Float(_) => unreachable!("inexact numbers were dealt with before"),
    }
}

fn divide_by_zero<T>(who: &str) -> Outcome<T> {
    Err(Failure::new(format!("{who}: division by zero"), &[]))
}

/// One of the four operations, in each kind of number.
fn operate(
    who: &str,
    (a, b): (V, V),
    int: fn(BigInt, BigInt) -> BigInt,
    ratio: fn(BigRational, BigRational) -> BigRational,
    float: fn(f64, f64) -> f64,
) -> Outcome<V> {
    Ok(match (number(who, 1, a)?, number(who, 2, b)?) {
        (Number::Int(a), Number::Int(b)) => from_int(&int(a, b)),
        (a, b) if matches!(a, Number::Float(_)) || matches!(b, Number::Float(_)) => {
            value::float(float(a.to_f64(), b.to_f64()))
        }
        (a, b) => to_exact(ratio(rational(a), rational(b))),
    })
}

fn is_exact_zero(v: V) -> bool {
    v.as_small() == Some(0)
}

/// The order of two numbers, exactly; none where one is no number.
fn order(who: &str, a: V, b: V) -> Outcome<Option<Ordering>> {
    Ok(match (number(who, 1, a)?, number(who, 2, b)?) {
        (Number::Float(a), Number::Float(b)) => a.partial_cmp(&b),
        (Number::Int(a), Number::Int(b)) => Some(a.cmp(&b)),
        (a, b) => match (a.to_exact(), b.to_exact()) {
            (Some(a), Some(b)) => Some(rational(a).cmp(&rational(b))),
            // An infinity is beyond every exact number, also beyond those too large for a double.
            (None, _) => a.to_f64().partial_cmp(&0.0),
            (_, None) => 0.0.partial_cmp(&b.to_f64()),
        },
    })
}

/// Division of integers in one of its ways.
fn divide(
    who: &str,
    a: V,
    b: V,
    int: fn(&BigInt, &BigInt) -> BigInt,
    float: fn(f64, f64) -> f64,
) -> Outcome<V> {
    match (whole(who, 1, a)?, whole(who, 2, b)?) {
        (Whole::Exact(a), Whole::Exact(b)) => {
            if b.is_zero() {
                divide_by_zero(who)
            } else {
                Ok(from_int(&int(&a, &b)))
            }
        }
        (a, b) => {
            let float_of = |w: Whole| match w {
                Whole::Exact(i) => i.to_f64().unwrap_or(f64::NAN),
                Whole::Inexact(f) => f,
            };
            let (a, b) = (float_of(a), float_of(b));
            if b == 0.0 { divide_by_zero(who) } else { Ok(value::float(float(a, b))) }
        }
    }
}

/// A test of one number.
fn compare(who: &str, a: V, b: V, holds: fn(Ordering) -> bool) -> Outcome<bool> {
    Ok(order(who, a, b)?.is_some_and(holds))
}

/// The greater or smaller of two numbers, inexact when one is.
fn choose(who: &str, a: V, b: V, wanted: Ordering) -> Outcome<V> {
    let chosen = match order(who, a, b)? {
        // What is no number stays so.
        None => {
            if of(a).is_some_and(|n| n.to_f64().is_nan()) {
                a
            } else {
                b
            }
        }
        Some(order) => {
            if order == wanted {
                a
            } else {
                b
            }
        }
    };
    if a.as_float().is_some() != b.as_float().is_some() {
        return Ok(value::float(number(who, 1, chosen)?.to_f64()));
    }
    Ok(chosen)
}

fn by_both(who: &str, a: V, b: V, int: fn(&BigInt, &BigInt) -> BigInt) -> Outcome<V> {
    let exact = |w: Whole| match w {
        Whole::Exact(i) => (i, false),
        Whole::Inexact(f) => (num_traits::FromPrimitive::from_f64(f).unwrap_or_default(), true),
    };
    let ((a, inexact), (b, also)) = (exact(whole(who, 1, a)?), exact(whole(who, 2, b)?));
    let result = int(&a, &b);
    Ok(if inexact || also {
        value::float(result.to_f64().unwrap_or(f64::NAN))
    } else {
        from_int(&result)
    })
}

/// Rounds a number in one of four ways.
fn rounded(
    who: &str,
    a: V,
    ratio: fn(&BigRational) -> BigRational,
    float: fn(f64) -> f64,
) -> Outcome<V> {
    Ok(match number(who, 1, a)? {
        Number::Int(_) => a,
        Number::Ratio(r) => to_exact(ratio(&r)),
        Number::Float(f) => value::float(float(f)),
    })
}

fn round_ratio(r: &BigRational) -> BigRational {
    let two = BigInt::from(2);
    let below = r.floor();
    let twice = (r - &below) * &two;
    let up = twice > BigRational::one() || (twice.is_one() && below.to_integer().is_odd());
    if up { below + BigRational::one() } else { below }
}

/// The simplest rational between two, after Stern and Brocot.
fn simplest(low: BigRational, high: BigRational) -> BigRational {
    let floor = low.floor();
    if floor == low {
        return low;
    }
    if floor < high.floor() {
        return floor + BigRational::one();
    }
    let inner = simplest((high - &floor).recip(), (low - &floor).recip());
    floor + inner.recip()
}

fn rationalized(x: BigRational, by: BigRational) -> BigRational {
    let by = by.abs();
    let (low, high) = (&x - &by, &x + &by);
    if low.is_positive() {
        simplest(low, high)
    } else if high.is_negative() {
        -simplest(-high, -low)
    } else {
        BigRational::zero()
    }
}

fn radix(who: &str, v: V) -> Outcome<u32> {
    match v.given().map_or(Some(10), V::as_small) {
        Some(r @ (2 | 8 | 10 | 16)) => Ok(r as u32),
        Some(r) if (2..=36).contains(&r) => Ok(r as u32),
        _ => wrong_type(who, 2, "a radix from 2 to 36", v),
    }
}

/// The product of two small integers, and the remainder of a division after which the rest has the sign of
/// the divisor: without large numbers of the library's.
fn small_product(a: V, b: V) -> Option<V> {
    Some(numbers::from_i128(i128::from(a.as_small()?) * i128::from(b.as_small()?)))
}

fn small_modulo(a: V, b: V) -> Option<V> {
    let (a, b) = (numbers::as_i128(a)?, numbers::as_i128(b)?);
    let m = a.checked_rem(b)?;
    Some(numbers::from_i128(if m != 0 && (m < 0) != (b < 0) { m + b } else { m }))
}

/// A power that is a machine integer.
fn small_power(base: V, power: V) -> Option<V> {
    let (base, power) = (base.as_small()?, u32::try_from(power.as_small()?).ok()?);
    Some(numbers::from_i64(base.checked_pow(power)?))
}

primitives! {
    // An exact zero has no sign: added to a flonum it changes nothing, and less it is the flonum negated.
    fn sch_add_any(a, b) -> V {
        match (is_exact_zero(a), is_exact_zero(b)) {
            (true, _) if b.as_float().is_some() => Ok(b),
            (_, true) if a.as_float().is_some() => Ok(a),
            _ => operate("+", (a, b), |a, b| a + b, |a, b| a + b, |a, b| a + b),
        }
    }
    fn sch_sub_any(a, b) -> V {
        match b.as_float() {
            Some(b) if is_exact_zero(a) => Ok(value::float(-b)),
            _ => operate("-", (a, b), |a, b| a - b, |a, b| a - b, |a, b| a - b),
        }
    }
    fn sch_mul_any(a, b) -> V {
        if let Some(product) = small_product(a, b) {
            return Ok(product);
        }
        operate("*", (a, b), |a, b| a * b, |a, b| a * b, |a, b| a * b)
    }
    fn sch_div_any(a, b) -> V {
        match (number("/", 1, a)?, number("/", 2, b)?) {
            (Number::Float(a), b) => Ok(value::float(a / b.to_f64())),
            (a, Number::Float(b)) => Ok(value::float(a.to_f64() / b)),
            (_, Number::Int(b)) if b.is_zero() => divide_by_zero("/"),
            (a, b) => Ok(to_exact(rational(a) / rational(b))),
        }
    }

    fn sch_num_eq_any(a, b) -> bool { compare("=", a, b, |o| o.is_eq()) }
    fn sch_num_lt_any(a, b) -> bool { compare("<", a, b, |o| o.is_lt()) }
    fn sch_num_gt_any(a, b) -> bool { compare(">", a, b, |o| o.is_gt()) }
    fn sch_num_lt_eq_any(a, b) -> bool { compare("<=", a, b, |o| o.is_le()) }
    fn sch_num_gt_eq_any(a, b) -> bool { compare(">=", a, b, |o| o.is_ge()) }

    fn sch_quotient_any(a, b) -> V { divide("quotient", a, b, |a, b| a / b, |a, b| (a / b).trunc()) }
    fn sch_remainder_any(a, b) -> V { divide("remainder", a, b, |a, b| a % b, |a, b| a % b) }
    fn sch_modulo_any(a, b) -> V {
        if let Some(modulo) = small_modulo(a, b) {
            return Ok(modulo);
        }
        divide("modulo", a, b, |a, b| a.mod_floor(b), |a, b| {
            let m = a % b;
            if m != 0.0 && (m < 0.0) != (b < 0.0) { m + b } else { m }
        })
    }
    fn sch_floor_quotient(a, b) -> V {
        divide("floor-quotient", a, b, |a, b| a.div_floor(b), |a, b| (a / b).floor())
    }

    fn sch_abs(a) -> V {
        Ok(match number("abs", 1, a)? {
            Number::Int(i) => from_int(&i.abs()),
            Number::Ratio(r) => to(&Number::Ratio(r.abs())),
            Number::Float(f) => value::float(f.abs()),
        })
    }
    fn sch_max2(a, b) -> V { choose("max", a, b, Ordering::Greater) }
    fn sch_min2(a, b) -> V { choose("min", a, b, Ordering::Less) }
    fn sch_gcd2(a, b) -> V { by_both("gcd", a, b, |a, b| a.gcd(b)) }
    fn sch_lcm2(a, b) -> V { by_both("lcm", a, b, |a, b| a.lcm(b)) }

    fn sch_numerator(a) -> V {
        let n = number("numerator", 1, a)?;
        let Some(exact) = n.to_exact() else { return wrong_type("numerator", 1, "a rational", a) };
        let part = rational(exact).numer().clone();
        Ok(if matches!(n, Number::Float(_)) { value::float(part.to_f64().unwrap_or(f64::NAN)) } else { from_int(&part) })
    }
    fn sch_denominator(a) -> V {
        let n = number("denominator", 1, a)?;
        let Some(exact) = n.to_exact() else { return wrong_type("denominator", 1, "a rational", a) };
        let part = rational(exact).denom().clone();
        Ok(if matches!(n, Number::Float(_)) { value::float(part.to_f64().unwrap_or(f64::NAN)) } else { from_int(&part) })
    }
    fn sch_floor(a) -> V { rounded("floor", a, |r| r.floor(), f64::floor) }
    fn sch_ceiling(a) -> V { rounded("ceiling", a, |r| r.ceil(), f64::ceil) }
    fn sch_truncate(a) -> V { rounded("truncate", a, |r| r.trunc(), f64::trunc) }
    fn sch_round(a) -> V { rounded("round", a, round_ratio, f64::round_ties_even) }
    fn sch_rationalize(a, b) -> V {
        let (x, y) = (number("rationalize", 1, a)?, number("rationalize", 2, b)?);
        let inexact = matches!(x, Number::Float(_)) || matches!(y, Number::Float(_));
        Ok(match (x.to_exact(), y.to_exact()) {
            (Some(x), Some(y)) => {
                let simple = Number::exact(rationalized(rational(x), rational(y)));
                if inexact { value::float(simple.to_f64()) } else { to(&simple) }
            }
            _ if y.to_f64().is_infinite() && x.to_f64().is_finite() => value::float(0.0),
            _ if x.to_f64().is_infinite() && y.to_f64().is_finite() => a,
            _ => value::float(f64::NAN),
        })
    }

    fn sch_exact(a) -> V {
        match number("exact", 1, a)?.to_exact() {
            Some(exact) => Ok(to(&exact)),
            None => wrong_type("exact", 1, "a finite number", a),
        }
    }
    fn sch_inexact(a) -> V { Ok(value::float(number("inexact", 1, a)?.to_f64())) }

    fn sch_exact_integer_sqrt(a) -> V {
        match of(a) {
            Some(Number::Int(i)) if !i.is_negative() => Ok(from_int(&i.sqrt())),
            _ => wrong_type("exact-integer-sqrt", 1, "an exact integer that is not negative", a),
        }
    }

    fn sch_expt_any(a, b) -> V {
        if let Some(power) = small_power(a, b) {
            return Ok(power);
        }
        let (base, power) = (number("expt", 1, a)?, number("expt", 2, b)?);
        Ok(match (base, power) {
            (Number::Float(base), Number::Int(power)) if power.to_i32().is_some() => {
                value::float(base.powi(power.to_i32().unwrap_or(0)))
            }
            (base, Number::Int(power)) if !matches!(base, Number::Float(_)) => {
                let Some(by) = power.magnitude().to_u32() else {
                    // Only these have powers that large.
                    return match base.to_f64() {
                        0.0 | 1.0 => Ok(a),
                        -1.0 => Ok(if power.is_odd() { a } else { V::small(1) }),
                        _ => Err(Failure::new("expt: the result is too large for any memory:", &[a, b])),
                    };
                };
                let base = rational(base);
                if base.is_zero() && power.is_negative() {
                    return divide_by_zero("expt");
                }
                let raised = BigRational::new_raw(base.numer().pow(by), base.denom().pow(by));
                to_exact(if power.is_negative() { raised.recip() } else { raised })
            }
            (base, power) => {
                let f = base.to_f64().powf(power.to_f64());
                if f.is_nan() && !base.to_f64().is_nan() && !power.to_f64().is_nan() {
                    return Err(Failure::new("expt: there are no complex numbers:", &[a, b]));
                }
                value::float(f)
            }
        })
    }

    fn sch_number_to_string(a, base) -> V {
        let radix = radix("number->string", base)?;
        let n = number("number->string", 1, a)?;
        if radix != 10 && matches!(n, Number::Float(_)) {
            return wrong_type("number->string", 2, "10 for an inexact number", base);
        }
        Ok(value::string(&write(&n, radix)))
    }
    fn sch_string_to_number(text, base) -> V {
        let radix = radix("string->number", base)?;
        let text = crate::strings::checked("string->number", 1, text)?;
        let first = text.chars().first().and_then(|c| char::from_u32(*c));
        // Most words that are none are told here, without a copy of their text.
        if !first.is_some_and(|c| may_begin(c, radix)) {
            return Ok(V::FALSE);
        }
        Ok(parse(&text.text(), radix).map_or(V::FALSE, |n| to(&n)))
    }

    fn sch_exact_p(a) -> bool { Ok(!matches!(number("exact?", 1, a)?, Number::Float(_))) }
    fn sch_inexact_p(a) -> bool { Ok(matches!(number("inexact?", 1, a)?, Number::Float(_))) }
    fn sch_finite_p(a) -> bool {
        Ok(match number("finite?", 1, a)? { Number::Float(f) => f.is_finite(), _ => true })
    }
    fn sch_infinite_p(a) -> bool {
        Ok(match number("infinite?", 1, a)? { Number::Float(f) => f.is_infinite(), _ => false })
    }
    fn sch_nan_p(a) -> bool {
        Ok(match number("nan?", 1, a)? { Number::Float(f) => f.is_nan(), _ => false })
    }
}

/// # Safety
/// `who` is a C string of the program.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sch_odd_slow(
    sp: crate::failure::Sp,
    a: V,
    who: *const std::ffi::c_char,
) -> bool {
    // SAFETY: the caller's contract.
    let who = unsafe { std::ffi::CStr::from_ptr(who) }.to_str().unwrap_or("?");
    let odd = whole(who, 1, a).map(|w| match w {
        Whole::Exact(i) => i.is_odd(),
        Whole::Inexact(f) => f % 2.0 != 0.0,
    });
    crate::failure::or_raise(sp, odd)
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_number_slow(a: V) -> bool {
    of(a).is_some()
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_integer_p(a: V) -> bool {
    match numbers::of(a) {
        Some(Number::Int(_)) => true,
        Some(Number::Float(f)) => f.is_finite() && f.fract() == 0.0,
        _ => false,
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_rational_p(a: V) -> bool {
    match numbers::of(a) {
        Some(Number::Float(f)) => f.is_finite(),
        Some(_) => true,
        None => false,
    }
}
