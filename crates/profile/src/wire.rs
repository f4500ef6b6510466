//! Protocol buffer messages, field by field. Damaged input is an error, never a panic.

/// The bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damaged;

/// The value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// A number.
    Number(u64),
    /// A message, a string, or packed numbers.
    Bytes(&'a [u8]),
    /// Eight or four bytes of a fixed length, which profiles do not have.
    Other,
}

/// A message that is read field by field.
pub trait Message: Default {
    /// Takes one field; ignores unknown ones.
    fn take(&mut self, number: u64, field: Field) -> Result<(), Damaged>;

    /// Reads all of a message.
    fn read(mut bytes: &[u8]) -> Result<Self, Damaged> {
        let mut message = Self::default();
        while !bytes.is_empty() {
            let tag = varint(&mut bytes)?;
            let field = match tag & 7 {
                0 => Field::Number(varint(&mut bytes)?),
                1 => skip(&mut bytes, 8)?,
                2 => {
                    let len = usize::try_from(varint(&mut bytes)?).map_err(|_| Damaged)?;
                    Field::Bytes(split(&mut bytes, len)?)
                }
                5 => skip(&mut bytes, 4)?,
                _ => return Err(Damaged),
            };
            message.take(tag >> 3, field)?;
        }
        Ok(message)
    }
}

fn skip<'a>(bytes: &mut &'a [u8], len: usize) -> Result<Field<'a>, Damaged> {
    split(bytes, len).map(|_| Field::Other)
}

fn split<'a>(bytes: &mut &'a [u8], len: usize) -> Result<&'a [u8], Damaged> {
    let (first, rest) = bytes.split_at_checked(len).ok_or(Damaged)?;
    *bytes = rest;
    Ok(first)
}

fn varint(bytes: &mut &[u8]) -> Result<u64, Damaged> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = split(bytes, 1)?[0];
        number |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(Damaged)
}

impl<'a> Field<'a> {
    /// The number; 0 for other values.
    pub fn number(self) -> u64 {
        match self {
            Field::Number(number) => number,
            _ => 0,
        }
    }

    /// The bytes; empty for other values.
    pub fn bytes(self) -> &'a [u8] {
        match self {
            Field::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    /// A message.
    pub fn message<M: Message>(self) -> Result<M, Damaged> {
        M::read(self.bytes())
    }

    /// Adds one number, or several that are packed.
    pub fn numbers(self, mut add: impl FnMut(u64)) -> Result<(), Damaged> {
        match self {
            Field::Number(number) => add(number),
            Field::Bytes(mut bytes) => {
                while !bytes.is_empty() {
                    add(varint(&mut bytes)?);
                }
            }
            Field::Other => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Numbers(Vec<u64>);

    impl Message for Numbers {
        fn take(&mut self, _number: u64, field: Field) -> Result<(), Damaged> {
            field.numbers(|number| self.0.push(number))
        }
    }

    #[test]
    fn numbers_are_read_one_by_one_and_packed() {
        let bytes = [0x08, 0xAC, 0x02, 0x0A, 0x03, 0x01, 0x80, 0x01, 0x0D, 1, 2, 3, 4];
        assert_eq!(Numbers::read(&bytes).unwrap().0, [300, 1, 128]);
    }

    #[test]
    fn what_ends_early_or_is_too_long_is_damaged() {
        for bytes in [&[0x08][..], &[0x08, 0x80], &[0x0A, 5, 0], &[0x0B], &[0xFF; 11], &[0x09, 0]] {
            assert!(Numbers::read(bytes).is_err(), "{bytes:?}");
        }
    }
}
