//! Does a row of numbers grow steadily?

/// Fewer samples prove nothing.
const ENOUGH: usize = 48;

/// The medians of the first and the last quarter, if the samples grow steadily.
///
/// Three things must hold. The medians of the four quarters rise one after the other, which a single
/// step does not do. Of all pairs of samples the later one is the larger three times as often as the
/// smaller one (Kendall's tau of at least 0.5: in 64 samples of noise its standard deviation is
/// 0.09), which neither outliers nor noise do. And the growth is at least 1/20.
pub(super) fn growth(samples: &[u64]) -> Option<(u64, u64)> {
    if samples.len() < ENOUGH {
        return None;
    }
    let quarter = |q: usize| median(&samples[q * samples.len() / 4..(q + 1) * samples.len() / 4]);
    let medians = [0, 1, 2, 3].map(quarter);
    let (from, to) = (medians[0], medians[3]);
    let rising = medians.windows(2).all(|pair| pair[0] < pair[1]);
    (rising && to - from >= from / 20 && tau(samples) >= 0.5).then_some((from, to))
}

fn median(samples: &[u64]) -> u64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

/// Kendall's tau of the samples and their order: 1 when all rise, -1 when all fall.
fn tau(samples: &[u64]) -> f64 {
    let mut sum = 0i64;
    for (i, early) in samples.iter().enumerate() {
        for late in &samples[i + 1..] {
            sum += i64::from(late > early) - i64::from(late < early);
        }
    }
    let pairs = samples.len() * (samples.len() - 1) / 2;
    sum as f64 / pairs as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(of: impl Fn(u64) -> u64) -> std::vec::Vec<u64> {
        (0..64).map(of).collect()
    }

    /// Numbers without order, from 0 to `most`.
    fn noise(i: u64, most: u64) -> u64 {
        let mixed = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
        (mixed.wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 33) % (most + 1)
    }

    #[test]
    fn steady_growth_is_found_also_in_noise_and_with_outliers() {
        assert!(growth(&row(|i| 1000 + 10 * i)).is_some());
        assert!(growth(&row(|i| 1000 + 20 * i + noise(i, 250))).is_some());
        assert!(growth(&row(|i| if i % 16 == 3 { 0 } else { 1000 + 10 * i })).is_some());
    }

    #[test]
    fn what_does_not_grow_steadily_is_not_found() {
        assert_eq!(growth(&row(|_| 1000)), None, "constant");
        assert_eq!(growth(&row(|i| 1000 + noise(i, 500))), None, "noise");
        assert_eq!(growth(&row(|i| if i < 30 { 1000 } else { 5000 })), None, "one step");
        assert_eq!(growth(&row(|i| 1000 + 100 * (i % 20))), None, "a saw");
        assert_eq!(growth(&row(|i| 5000 - 10 * i)), None, "it falls");
        assert_eq!(growth(&row(|i| 1_000_000 + i)), None, "by next to nothing");
        assert_eq!(growth(&[1, 2, 3, 4]), None, "too few");
    }
}
