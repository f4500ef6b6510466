//! CRC-32C (Castagnoli), eight bytes a step: a table for each place that a byte can have in a step.

const POLYNOMIAL: u32 = 0x82F6_3B78;

static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut value = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            value = value >> 1 ^ if value & 1 == 1 { POLYNOMIAL } else { 0 };
            bit += 1;
        }
        tables[0][byte] = value;
        byte += 1;
    }
    let mut place = 1;
    while place < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[place - 1][byte];
            tables[place][byte] = before >> 8 ^ tables[0][(before & 0xFF) as usize];
            byte += 1;
        }
        place += 1;
    }
    tables
}

/// The checksum of several stretches of bytes, one behind the other.
///
/// ```
/// use allod_trace_core::crc::checksum;
/// assert_eq!(checksum(&[b"123456789"]), 0xE306_9283);
/// assert_eq!(checksum(&[b"1234", b"56789"]), 0xE306_9283);
/// ```
pub fn checksum(parts: &[&[u8]]) -> u32 {
    !parts.iter().fold(!0, |crc, part| extend(crc, part))
}

fn extend(mut crc: u32, bytes: &[u8]) -> u32 {
    let (steps, rest) = bytes.as_chunks::<8>();
    for step in steps {
        let word = u64::from_le_bytes(*step) ^ u64::from(crc);
        crc = 0;
        for (place, table) in TABLES.iter().rev().enumerate() {
            crc ^= table[(word >> (8 * place)) as usize & 0xFF];
        }
    }
    for &byte in rest {
        crc = crc >> 8 ^ TABLES[0][(crc as u8 ^ byte) as usize];
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_values() {
        // RFC 3720, appendix B.4.
        assert_eq!(checksum(&[&[0; 32]]), 0x8A91_36AA);
        assert_eq!(checksum(&[&[0xFF; 32]]), 0x62A8_AB43);
        assert_eq!(checksum(&[]), 0);
    }
}
