//! Looking at a message that is not text yet, without memory to write it into.

use core::fmt::{self, Display, Write};

/// What is left to be found of a beginning.
struct Wanted<'a>(&'a [u8]);

impl Write for Wanted<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let compared = text.len().min(self.0.len());
        let (wanted, rest) = self.0.split_at(compared);
        if wanted != &text.as_bytes()[..compared] {
            return Err(fmt::Error);
        }
        self.0 = rest;
        Ok(())
    }
}

/// True when a message begins with these words.
pub(crate) fn begins_with(words: &str, message: impl Display) -> bool {
    let mut wanted = Wanted(words.as_bytes());
    write!(wanted, "{message}").is_ok() && wanted.0.is_empty()
}
