//! pprof's format: a gzipped protocol buffer message, as `profile.proto` defines it. Only the fields
//! used here.

use crate::wire::{Damaged, Field, Message};
use std::io::Read;
use std::path::Path;

/// More than the unpacked size of any profile; a file that claims more is damaged or hostile.
const MOST_BYTES: u64 = 1 << 30;

/// The most calls in a stack: far more than profilers keep, and few enough to walk recursively.
const MOST_CALLS: usize = 1024;
/// No value is larger, nor the sum of all, so sums and differences of two profiles fit in their type.
const MOST: i64 = i64::MAX / 4;

/// A profile as it is in its file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// The types of a sample's values.
    pub sample_type: Vec<ValueType>,
    /// One per stack.
    pub sample: Vec<Sample>,
    /// Files that code is mapped from.
    pub mapping: Vec<Mapping>,
    /// Instructions.
    pub location: Vec<Location>,
    /// Functions; none in a profile that only has addresses.
    pub function: Vec<Function>,
    /// All strings: others are numbers in this table.
    pub string_table: Vec<String>,
    /// The value to show by default.
    pub default_sample_type: i64,
}

/// A value's name and unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ValueType {
    /// Such as `inuse_space`.
    pub name: i64,
    /// Such as `bytes`.
    pub unit: i64,
}

/// A stack and its values.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Ids of locations, the innermost first.
    pub location_id: Vec<u64>,
    /// One for each sample type.
    pub value: Vec<i64>,
}

/// A part of a file in memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mapping {
    /// What locations call it.
    pub id: u64,
    /// Its first address.
    pub memory_start: u64,
    /// Where it begins in the file.
    pub file_offset: u64,
    /// The file's path.
    pub filename: i64,
    /// Its build id in hexadecimal digits.
    pub build_id: i64,
}

/// An instruction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Location {
    /// What samples call it.
    pub id: u64,
    /// Its mapping; 0 for none.
    pub mapping_id: u64,
    /// Its address.
    pub address: u64,
    /// Functions it is part of, the innermost inlined one first, if the profile has them.
    pub line: Vec<Line>,
}

/// A line of a function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The function.
    pub function_id: u64,
    /// Its number in the file; 0 if unknown.
    pub line: i64,
}

/// A function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Function {
    /// What lines call it.
    pub id: u64,
    /// Its name.
    pub name: i64,
    /// The source file.
    pub filename: i64,
}

/// How a message takes its fields, by their numbers.
macro_rules! message {
    ($type:ty, |$to:ident, $field:ident| { $($number:literal => $read:expr,)+ }) => {
        impl Message for $type {
            fn take(&mut self, number: u64, $field: Field) -> Result<(), Damaged> {
                let $to = self;
                match number {
                    $($number => $read,)+
                    _ => {}
                }
                Ok(())
            }
        }
    };
}

message!(Profile, |to, field| {
    1 => to.sample_type.push(field.message()?),
    2 => to.sample.push(field.message()?),
    3 => to.mapping.push(field.message()?),
    4 => to.location.push(field.message()?),
    5 => to.function.push(field.message()?),
    6 => to.string_table.push(String::from_utf8_lossy(field.bytes()).into_owned()),
    14 => to.default_sample_type = field.number() as i64,
});
message!(ValueType, |to, field| {
    1 => to.name = field.number() as i64,
    2 => to.unit = field.number() as i64,
});
message!(Sample, |to, field| {
    1 => field.numbers(|id| to.location_id.push(id))?,
    2 => field.numbers(|value| to.value.push(value as i64))?,
});
message!(Mapping, |to, field| {
    1 => to.id = field.number(),
    2 => to.memory_start = field.number(),
    4 => to.file_offset = field.number(),
    5 => to.filename = field.number() as i64,
    6 => to.build_id = field.number() as i64,
});
message!(Location, |to, field| {
    1 => to.id = field.number(),
    2 => to.mapping_id = field.number(),
    3 => to.address = field.number(),
    4 => to.line.push(field.message()?),
});
message!(Line, |to, field| {
    1 => to.function_id = field.number(),
    2 => to.line = field.number() as i64,
});
message!(Function, |to, field| {
    1 => to.id = field.number(),
    2 => to.name = field.number() as i64,
    4 => to.filename = field.number() as i64,
});

impl Profile {
    /// A string by its number; empty if the table does not have it.
    pub fn text(&self, number: i64) -> &str {
        usize::try_from(number).ok().and_then(|i| self.string_table.get(i)).map_or("", |s| s)
    }
}

/// Reads a profile, gzipped or not. The error says what is wrong with the file.
pub fn read(path: &Path) -> Result<Profile, String> {
    let name = path.display();
    let bytes = std::fs::read(path).map_err(|e| format!("cannot read {name}: {e}"))?;
    from_bytes(&bytes).map_err(|why| format!("{name}: {why}"))
}

fn from_bytes(bytes: &[u8]) -> Result<Profile, String> {
    let mut unpacked = Vec::new();
    if bytes.starts_with(&[0x1F, 0x8B]) {
        flate2::read::MultiGzDecoder::new(bytes)
            .take(MOST_BYTES)
            .read_to_end(&mut unpacked)
            .map_err(|e| format!("the profile is damaged or ends early ({e})"))?;
    } else {
        unpacked.extend_from_slice(bytes);
    }
    let profile = Profile::read(&unpacked)
        .map_err(|_| "this is not a profile in pprof's format, or it is damaged".to_owned())?;
    if profile.sample_type.is_empty() || profile.string_table.first().is_none_or(|s| !s.is_empty())
    {
        return Err(
            "this is not a profile in pprof's format: it does not say what its values are".into()
        );
    }
    let values = profile.sample_type.len();
    if profile.sample.iter().any(|sample| sample.value.len() != values) {
        return Err("the profile is damaged: a sample does not have a value of each kind".into());
    }
    if profile.sample.iter().any(|sample| sample.location_id.len() > MOST_CALLS) {
        return Err(format!("the profile is damaged: a stack has more than {MOST_CALLS} calls"));
    }
    for number in 0..values {
        let mut amounts = profile.sample.iter().map(|sample| sample.value[number].unsigned_abs());
        let sum = amounts.try_fold(0, u64::checked_add);
        if sum.is_none_or(|sum| sum > MOST as u64) {
            return Err("the profile is damaged: its values are larger than any memory".into());
        }
    }
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::{Compression, write::GzEncoder};
    use proptest::prelude::*;
    use std::io::Write;

    /// `inuse_space` in `bytes`, 7 of them at location 1, and 300 at locations 1 and 2, packed.
    const SMALL: &[u8] = b"\x0a\x04\x08\x01\x10\x02\x12\x04\x08\x01\x10\x07\
        \x12\x08\x0a\x02\x02\x01\x12\x02\xac\x02\x32\x00\x32\x0binuse_space\x32\x05bytes";

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut out = GzEncoder::new(Vec::new(), Compression::default());
        out.write_all(bytes).unwrap();
        out.finish().unwrap()
    }

    #[test]
    fn a_profile_is_read_gzipped_or_not() {
        let profile = from_bytes(SMALL).unwrap();
        assert_eq!(profile.text(profile.sample_type[0].name), "inuse_space");
        assert_eq!(profile.text(profile.sample_type[0].unit), "bytes");
        let sample = |location_id: &[u64], value| Sample {
            location_id: location_id.to_vec(),
            value: vec![value],
        };
        assert_eq!(profile.sample, [sample(&[1], 7), sample(&[2, 1], 300)]);
        assert_eq!(from_bytes(&gzipped(SMALL)).unwrap(), profile);
    }

    #[test]
    fn what_is_damaged_is_said() {
        let whole = gzipped(SMALL);
        assert!(from_bytes(&whole[..whole.len() - 9]).unwrap_err().contains("ends early"));
        assert!(from_bytes(b"").unwrap_err().contains("not a profile"));
        assert!(from_bytes(b"#!/bin/sh\n").unwrap_err().contains("not a profile"));
        let without_a_value = [&SMALL[..6], b"\x12\x02\x08\x01", &SMALL[12..]].concat();
        assert!(from_bytes(&without_a_value).unwrap_err().contains("damaged"));
        let smallest = [b"\x12\x0b\x10", &[0x80; 9][..], b"\x01", SMALL].concat();
        assert!(from_bytes(&smallest).unwrap_err().contains("larger than any memory"));
        let deep = [b"\x12\x86\x08\x0a\x81\x08", &[1; 1025][..], b"\x10\x07", SMALL].concat();
        assert!(
            from_bytes(&deep).unwrap_err().contains("more than 1024 calls"),
            "{:?}",
            from_bytes(&deep)
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn any_bytes_are_a_profile_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = from_bytes(&bytes);
        }

        #[test]
        fn a_wrong_byte_is_survived(at in 0..SMALL.len(), byte: u8) {
            let mut bytes = SMALL.to_vec();
            bytes[at] = byte;
            let _ = from_bytes(&bytes);
        }
    }
}
