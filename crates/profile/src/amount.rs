//! Amounts for people.

/// `1536` bytes as `1.5 KiB`; other units with commas.
pub fn amount(value: i64, unit: &str) -> String {
    match unit {
        "bytes" => bytes(value),
        _ => grouped(value),
    }
}

fn bytes(value: i64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (mut scaled, mut unit) = (value as f64, 0);
    while scaled.abs() >= 1024.0 && unit + 1 < UNITS.len() {
        scaled /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0);
    format!("{scaled:.decimals$} {}", UNITS[unit])
}

fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let mut text = String::from(if value < 0 { "-" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A part of a whole in percent; empty if the whole is 0.
pub fn share(part: i64, whole: i64) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_read_well() {
        assert_eq!(amount(1023, "bytes"), "1023 B");
        assert_eq!(amount(1536, "bytes"), "1.5 KiB");
        assert_eq!(amount(-(3 << 20), "bytes"), "-3.0 MiB");
        assert_eq!(amount(1_234_567, "count"), "1,234,567");
        assert_eq!(amount(-1000, "count"), "-1,000");
        assert_eq!(share(1, 0), 0.0);
    }
}
