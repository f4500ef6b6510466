//! What flonums can do.

use crate::failure::{Failure, Outcome, Sp, or_raise};
use crate::numbers::{Number, number, to};
use crate::primitives;
use crate::value::{self, V};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Signed;

/// A function of an inexact number; exact where `exact` says so.
fn function(who: &str, a: V, exact: Option<(i64, i64)>, f: fn(f64) -> f64) -> Outcome<V> {
    if let Some((from, result)) = exact
        && a == V::small(from)
    {
        return Ok(V::small(result));
    }
    let x = number(who, 1, a)?.to_f64();
    let result = f(x);
    if result.is_nan() && !x.is_nan() && x.is_finite() {
        return Err(Failure::new(format!("{who}: there are no complex numbers:"), &[a]));
    }
    Ok(value::float(result))
}

/// The square root of an integer that has one.
fn root(i: &BigInt) -> Option<BigInt> {
    let root = i.sqrt();
    (&(&root * &root) == i).then_some(root)
}

/// The logarithm, also of integers too large for flonums.
fn log(n: &Number) -> f64 {
    match n {
        Number::Int(i) if i.is_positive() && i.bits() > 1000 => {
            let drop = i.bits() - 64;
            Number::Int(i >> drop).to_f64().ln() + drop as f64 * std::f64::consts::LN_2
        }
        other => other.to_f64().ln(),
    }
}

primitives! {
    fn sch_exp(a) -> V { function("exp", a, Some((0, 1)), f64::exp) }
    fn sch_sin(a) -> V { function("sin", a, Some((0, 0)), f64::sin) }
    fn sch_cos(a) -> V { function("cos", a, Some((0, 1)), f64::cos) }
    fn sch_tan(a) -> V { function("tan", a, Some((0, 0)), f64::tan) }
    fn sch_asin(a) -> V { function("asin", a, Some((0, 0)), f64::asin) }
    fn sch_acos(a) -> V { function("acos", a, Some((1, 0)), f64::acos) }

    fn sch_log(a, base) -> V {
        if a == V::small(1) {
            return Ok(V::small(0));
        }
        let n = number("log", 1, a)?;
        if n.to_f64() < 0.0 {
            return Err(Failure::new("log: there are no complex numbers:", &[a]));
        }
        match base.given() {
            None => Ok(value::float(log(&n))),
            Some(base) => {
                let b = number("log", 2, base)?;
                let result = match b.to_f64() {
                    2.0 if n.to_f64().is_finite() => n.to_f64().log2(),
                    10.0 if n.to_f64().is_finite() => n.to_f64().log10(),
                    _ => log(&n) / log(&b),
                };
                Ok(value::float(result))
            }
        }
    }

    fn sch_atan(y, x) -> V {
        match x.given() {
            None => function("atan", y, Some((0, 0)), f64::atan),
            Some(x) => {
                if y == V::small(0) && x.as_small().is_some_and(|x| x > 0) {
                    return Ok(V::small(0));
                }
                Ok(value::float(number("atan", 1, y)?.to_f64().atan2(number("atan", 2, x)?.to_f64())))
            }
        }
    }

    fn sch_sqrt(a) -> V {
        let n = number("sqrt", 1, a)?;
        if n.to_f64() < 0.0 {
            return Err(Failure::new("sqrt: there are no complex numbers:", &[a]));
        }
        let exact = match &n {
            Number::Int(i) => root(i).map(Number::Int),
            Number::Ratio(r) => match (root(r.numer()), root(r.denom())) {
                (Some(n), Some(d)) => Some(Number::exact(BigRational::new(n, d))),
                _ => None,
            },
            Number::Float(_) => None,
        };
        Ok(exact.map_or_else(|| value::float(n.to_f64().sqrt()), |n| to(&n)))
    }
}

/// A number that is an argument of `who`, as a flonum.
#[unsafe(no_mangle)]
pub extern "C" fn sch_real_slow(sp: Sp, v: V, who: V, which: V) -> f64 {
    let which = which.as_small().unwrap_or(0) as usize;
    or_raise(sp, number(who.symbol_name(), which, v).map(|n| n.to_f64()))
}
