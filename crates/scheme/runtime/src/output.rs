//! Writing to ports.

use crate::bytes::{self, byte};
use crate::failure::wrong_type;
use crate::ports::output;
use crate::primitives;
use crate::printing::{How, print};
use crate::strings;
use crate::vectors::range;
use crate::word::text_of;

primitives! {
    fn sch_write(v, port, how) {
        let (who, how) = match how.as_small() {
            Some(0) => ("write", How::Write),
            Some(1) => ("display", How::Display),
            Some(2) => ("write-shared", How::Shared),
            _ => ("write-simple", How::Simple),
        };
        let out = output(who, 2, port, false)?;
        print(v, how, &mut |text| out.write(text.as_bytes()));
        Ok(())
    }
    fn sch_write_char(c, port) {
        let Some(c) = c.as_char() else { return wrong_type("write-char", 1, "a character", c) };
        let output = output("write-char", 2, port, false)?;
        if c.is_ascii() {
            output.push(c as u8);
        } else {
            output.write(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Ok(())
    }
    fn sch_write_string(s, port, start, end) {
        let chars = strings::checked("write-string", 1, s)?.chars();
        let range = range("write-string", 3, start, end, chars.len())?;
        output("write-string", 2, port, false)?.write(text_of(&chars[range]).as_bytes());
        Ok(())
    }
    fn sch_write_u8(v, port) {
        let byte = byte("write-u8", 1, v)?;
        output("write-u8", 2, port, true)?.write(&[byte]);
        Ok(())
    }
    fn sch_write_bytevector(b, port, start, end) {
        let all = bytes::checked("write-bytevector", 1, b)?.bytes();
        let range = range("write-bytevector", 3, start, end, all.len())?;
        output("write-bytevector", 2, port, true)?.write(&all[range]);
        Ok(())
    }
    fn sch_newline(port) {
        output("newline", 1, port, false)?.write(b"\n");
        Ok(())
    }
    fn sch_flush(port) {
        let binary = crate::ports::of(port).is_some_and(|p| p.binary);
        let output = output("flush-output-port", 1, port, binary)?;
        output.flush();
        output.told()
    }
}
