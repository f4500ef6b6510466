//! Numbers as text.
//!
//! ```text
//! number = ("#x" | "#b" | "#o" | "#d" | "#e" | "#i")* real
//! real   = sign? integer | sign? integer "/" integer | sign? decimal | sign "inf.0" | sign "nan.0"
//! ```

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{FromPrimitive, One, Signed, ToPrimitive, Zero};

/// A number of Scheme.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// An exact integer.
    Int(BigInt),
    /// An exact number that is no integer, in lowest terms.
    Ratio(BigRational),
    /// An inexact number.
    Float(f64),
}

impl Number {
    /// An exact number, an integer where it is one.
    pub fn exact(r: BigRational) -> Number {
        if r.is_integer() { Number::Int(r.to_integer()) } else { Number::Ratio(r) }
    }

    /// The nearest inexact number.
    pub fn to_f64(&self) -> f64 {
        match self {
            Number::Int(i) => i.to_f64().unwrap_or(f64::NAN),
            Number::Ratio(r) => ratio_to_f64(r),
            Number::Float(f) => *f,
        }
    }

    /// A byte, where it is one.
    pub fn to_u8(&self) -> Option<u8> {
        match self {
            Number::Int(i) => i.to_u8(),
            _ => None,
        }
    }

    /// The exact number of the same value; none for infinities and what is no number.
    pub fn to_exact(&self) -> Option<Number> {
        match self {
            Number::Float(f) => BigRational::from_f64(*f).map(Number::exact),
            other => Some(other.clone()),
        }
    }
}

/// The nearest double, ties to even, also where numerator and denominator are too large for doubles.
pub fn ratio_to_f64(r: &BigRational) -> f64 {
    let negative = r.is_negative();
    let (n, d) = (r.numer().abs(), r.denom());
    if n.is_zero() {
        return 0.0;
    }
    // A quotient of 64 to 66 bits, its last bit sticky, which rounds right once it is a double; where the
    // result is subnormal, fewer bits.
    let mut shift = 65 - (n.bits() as i64 - d.bits() as i64);
    shift = shift.min(1074 + 2);
    let (scaled, by) =
        if shift >= 0 { (n << shift as u64, d.clone()) } else { (n, d << (-shift) as u64) };
    let (mut q, rest) = scaled.div_rem(&by);
    if !rest.is_zero() {
        q |= BigInt::one();
    }
    let f = round_scaled(&q, -shift);
    if negative { -f } else { f }
}

/// `q` times 2 to the power of `exponent`, rounded once. The last bit of `q` is sticky.
fn round_scaled(q: &BigInt, exponent: i64) -> f64 {
    let bits = q.bits() as i64;
    // How many bits a double keeps at this magnitude.
    let keep = (bits + exponent + 1074).min(53);
    if keep < 0 {
        return 0.0;
    }
    let drop = bits - keep;
    if drop <= 0 {
        return q.to_f64().unwrap_or(f64::INFINITY) * 2f64.powi(exponent as i32);
    }
    let kept: BigInt = q >> drop as u64;
    let rest: BigInt = q - (&kept << drop as u64);
    let half = BigInt::one() << (drop as u64 - 1);
    let up = rest > half || (rest == half && kept.is_odd());
    let kept = if up { kept + 1 } else { kept };
    let e = exponent + drop;
    let f = kept.to_f64().unwrap_or(f64::INFINITY);
    // In two steps: 2^e alone may be too small for a double.
    if e < -1000 {
        f * 2f64.powi(-1000) * 2f64.powi((e + 1000) as i32)
    } else if e > 1023 {
        f64::INFINITY
    } else {
        f * 2f64.powi(e as i32)
    }
}

/// Whether a number may begin with a character.
pub fn may_begin(c: char, radix: u32) -> bool {
    c.is_digit(radix) || matches!(c, '+' | '-' | '.' | '#')
}

/// The number that a text is in a radix; none when it is no number.
pub fn parse(text: &str, radix: u32) -> Option<Number> {
    let (mut rest, mut radix, mut exactness) = (text, radix, None);
    while let Some(after) = rest.strip_prefix('#') {
        let c = after.chars().next()?.to_ascii_lowercase();
        match c {
            'x' => radix = 16,
            'b' => radix = 2,
            'o' => radix = 8,
            'd' => radix = 10,
            'e' | 'i' if exactness.is_none() => exactness = Some(c),
            _ => return None,
        }
        rest = &after[1..];
    }
    let first = char::from(*rest.as_bytes().first()?);
    if !may_begin(first, radix) {
        return None;
    }
    match exactness {
        Some('e') => match real(rest, radix, true)? {
            Number::Float(_) => None,
            exact => Some(exact),
        },
        Some('i') => Some(Number::Float(real(rest, radix, false)?.to_f64())),
        _ => real(rest, radix, false),
    }
}

fn real(text: &str, radix: u32, exact: bool) -> Option<Number> {
    if let Some(i) = integer(text, radix) {
        return Some(Number::Int(i));
    }
    let is = |name| text.eq_ignore_ascii_case(name);
    if is("+inf.0") {
        return Some(Number::Float(f64::INFINITY));
    } else if is("-inf.0") {
        return Some(Number::Float(f64::NEG_INFINITY));
    } else if is("+nan.0") || is("-nan.0") {
        return Some(Number::Float(f64::NAN));
    }
    if let Some((n, d)) = text.split_once('/') {
        let (n, d) = (integer(n, radix)?, integer(d, radix)?);
        if !d.is_positive() || text.contains("/+") {
            return None;
        }
        return Some(Number::exact(BigRational::new(n, d)));
    }
    if radix == 10 { decimal(text, exact) } else { None }
}

fn integer(text: &str, radix: u32) -> Option<BigInt> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let magnitude = match u64::from_str_radix(digits, radix) {
        Ok(small) if digits.len() < 20 => BigInt::from(small),
        _ => BigInt::parse_bytes(digits.as_bytes(), radix)?,
    };
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

fn decimal(text: &str, exact: bool) -> Option<Number> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match digits.find(['e', 'E']) {
        Some(at) => (&digits[..at], Some(&digits[at + 1..])),
        None => (digits, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all_digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    if let Some(e) = exponent {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        if e.is_empty() || !all_digits(e) {
            return None;
        }
    }
    if !exact {
        return text.parse().ok().map(Number::Float);
    }
    let exponent: i64 = exponent.map_or(Ok(0), str::parse).ok()?;
    let power = exponent - fraction.len() as i64;
    if power.abs() > 1_000_000 {
        return None;
    }
    let mut n: BigInt = format!("{whole}{fraction}").parse().ok()?;
    if text.starts_with('-') {
        n = -n;
    }
    let scale = BigInt::from(10).pow(power.unsigned_abs() as u32);
    Some(Number::exact(if power < 0 {
        BigRational::new(n, scale)
    } else {
        BigRational::from_integer(n * scale)
    }))
}

/// A number in a radix. Inexact numbers are written with as few digits as lead back to them.
pub fn write(number: &Number, radix: u32) -> String {
    match number {
        Number::Int(i) => i.to_str_radix(radix),
        Number::Ratio(r) => {
            format!("{}/{}", r.numer().to_str_radix(radix), r.denom().to_str_radix(radix))
        }
        Number::Float(f) => write_float(*f),
    }
}

/// An inexact number.
pub fn write_float(f: f64) -> String {
    if f.is_nan() {
        return "+nan.0".into();
    }
    if f.is_infinite() {
        return if f > 0.0 { "+inf.0" } else { "-inf.0" }.into();
    }
    let magnitude = f.abs();
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        return format!("{f:e}");
    }
    let text = format!("{f}");
    if text.contains('.') { text } else { text + ".0" }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round_trip(text: &str) -> String {
        write(&parse(text, 10).expect(text), 10)
    }

    #[test]
    fn numbers_are_written_as_they_are_read() {
        for text in ["0", "-17", "1/2", "-3/4", "1.5", "-0.0", "123456789012345678901234567890"] {
            assert_eq!(round_trip(text), text);
        }
        for (text, written) in [
            ("+5", "5"),
            ("4/2", "2"),
            ("#xff", "255"),
            ("#e1.25", "5/4"),
            ("#i1/4", "0.25"),
            (".5", "0.5"),
            ("1e3", "1000.0"),
            ("1e100", "1e100"),
            ("#e1e3", "1000"),
            ("-inf.0", "-inf.0"),
            ("#x-1A", "-26"),
        ] {
            assert_eq!(round_trip(text), written, "{text}");
        }
    }

    #[test]
    fn words_that_look_like_numbers_are_none() {
        for text in
            ["", "+", "-", "...", "1+", "1/0", "1/", "e5", "1e", "--1", "0x10", "1.2.3", "+x"]
        {
            assert!(parse(text, 10).is_none(), "{text}");
        }
    }

    #[test]
    fn ratios_become_the_nearest_double() {
        let ratio = |n: &str, d: &str| {
            ratio_to_f64(&BigRational::new(n.parse().unwrap(), d.parse().unwrap()))
        };
        assert_eq!(ratio("1", "3"), 1.0 / 3.0);
        assert_eq!(ratio("-7", "10"), -0.7);
        let huge = format!("1{}", "0".repeat(400));
        assert_eq!(ratio(&huge, &format!("3{}", "0".repeat(400))), 1.0 / 3.0);
        assert_eq!(ratio("1", &format!("1{}", "0".repeat(320))), 1e-320);
        assert_eq!(ratio("1", &huge), 0.0);
    }
}
