//! Integers in as many bytes as they need: seven bits per byte, low bits first; a byte's highest
//! bit is set if more follow (LEB128).

/// The longest number takes this many bytes.
pub const LONGEST: usize = 10;

/// Writes `value` at `at` and returns the position after it.
///
/// # Panics
/// When fewer than [`LONGEST`] bytes are left and the number needs more than there are.
///
/// ```
/// use allod_trace_core::varint;
/// let mut bytes = [0; 10];
/// assert_eq!(varint::write(&mut bytes, 0, 300), 2);
/// assert_eq!(varint::read(&bytes, 0), Some((300, 2)));
/// ```
#[inline]
pub fn write(bytes: &mut [u8], mut at: usize, mut value: u64) -> usize {
    while value >= 0x80 {
        bytes[at] = value as u8 | 0x80;
        value >>= 7;
        at += 1;
    }
    bytes[at] = value as u8;
    at + 1
}

/// Reads the number at `at`, and returns it with the position after it. `None` if it is truncated,
/// does not fit into 64 bits, or is longer than necessary.
#[inline]
pub fn read(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let mut value = 0;
    for i in 0..LONGEST {
        let byte = *bytes.get(at + i)?;
        let part = u64::from(byte & 0x7F);
        if i == LONGEST - 1 && byte > 1 || byte == 0 && i > 0 {
            return None;
        }
        value |= part << (7 * i);
        if byte < 0x80 {
            return Some((value, at + i + 1));
        }
    }
    None
}

/// Encodes a difference as a number that is small if the difference is near zero, positive or
/// negative.
#[inline]
pub fn zigzag(difference: i64) -> u64 {
    (difference << 1 ^ difference >> 63) as u64
}

/// The inverse of [`zigzag`].
#[inline]
pub fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_take_seven_bits_a_byte() {
        for shift in 0..64 {
            for value in [1u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
                let mut bytes = [0; LONGEST];
                let end = write(&mut bytes, 0, value);
                assert_eq!(read(&bytes[..end], 0), Some((value, end)));
                assert_eq!(end, (64 - value.leading_zeros() as usize).div_ceil(7).max(1));
                assert_eq!(read(&bytes[..end - 1], 0), None, "{value} cut off");
                assert_eq!(unzigzag(zigzag(value as i64)), value as i64);
            }
        }
    }

    #[test]
    fn a_number_has_one_form_only() {
        assert_eq!(read(&[0x80, 0], 0), None, "longer than it need be");
        assert_eq!(read(&[0xFF; 10], 0), None, "more than 64 bits");
        assert_eq!(read(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2], 0), None);
    }
}
