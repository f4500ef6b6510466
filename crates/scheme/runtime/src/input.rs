//! Reading characters and bytes from ports.

use crate::bytes;
use crate::ports::{self, Input, input};
use crate::primitives;
use crate::value::{self, V};
use crate::vectors::{range, size};

impl Input {
    /// The next character and its length in bytes. What is not UTF-8 is U+FFFD.
    #[inline]
    pub fn peek_char(&mut self) -> Option<(char, usize)> {
        match self.buffer.get(self.at) {
            Some(first) if first.is_ascii() => Some(((*first).into(), 1)),
            _ => self.peek_any(),
        }
    }

    #[cold]
    fn peek_any(&mut self) -> Option<(char, usize)> {
        if !self.fill() {
            return None;
        }
        loop {
            let rest = &self.buffer[self.at..];
            let part = &rest[..rest.len().min(4)];
            match std::str::from_utf8(part) {
                Ok(text) => return text.chars().next().map(|c| (c, c.len_utf8())),
                Err(e) if e.valid_up_to() > 0 => {
                    let text = String::from_utf8_lossy(&part[..e.valid_up_to()]);
                    return text.chars().next().map(|c| (c, c.len_utf8()));
                }
                Err(e) => {
                    // The rest of the character may be still to come.
                    let cut = e.error_len().is_none();
                    if !(cut && self.more()) {
                        return Some(('\u{FFFD}', 1));
                    }
                }
            }
        }
    }

    #[inline]
    pub fn take_char(&mut self) -> Option<char> {
        let (c, len) = self.peek_char()?;
        self.at += len;
        if c == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(c)
    }
}

primitives! {
    fn sch_read_char(port) -> V {
        let port = input("read-char", 1, port, false)?;
        port.take_char().map_or_else(|| ports::end(port), |c| Ok(V::char(c)))
    }
    fn sch_peek_char(port) -> V {
        let port = input("peek-char", 1, port, false)?;
        port.peek_char().map_or_else(|| ports::end(port), |(c, _)| Ok(V::char(c)))
    }
    fn sch_char_ready_p(port) -> bool {
        let binary = crate::ports::of(port).is_some_and(|p| p.binary);
        let port = input(if binary { "u8-ready?" } else { "char-ready?" }, 1, port, binary)?;
        if port.at < port.buffer.len() || port.file.is_none() {
            return Ok(true);
        }
        let fd = port.file.as_ref().map_or(-1, std::os::fd::AsRawFd::as_raw_fd);
        let mut poll = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
        // SAFETY: one entry.
        Ok(unsafe { libc::poll(&mut poll, 1, 0) } != 0)
    }
    fn sch_read_line(port) -> V {
        let port = input("read-line", 1, port, false)?;
        let mut line = String::new();
        loop {
            match port.take_char() {
                Some('\n') => break,
                // A line ends by a return, too, or by both.
                Some('\r') => {
                    if port.peek_char().is_some_and(|(c, _)| c == '\n') {
                        port.take_char();
                    }
                    break;
                }
                Some(c) => line.push(c),
                None if line.is_empty() => return ports::end(port),
                None => break,
            }
        }
        Ok(value::string(&line))
    }
    fn sch_read_string(k, port) -> V {
        let most = size("read-string", k)?;
        let port = input("read-string", 2, port, false)?;
        let mut chars = Vec::new();
        while chars.len() < most {
            match port.take_char() {
                Some(c) => chars.push(u32::from(c)),
                None if chars.is_empty() => return ports::end(port),
                None => break,
            }
        }
        Ok(value::string_of(&chars))
    }
    fn sch_read_u8(port) -> V {
        let port = input("read-u8", 1, port, true)?;
        if !port.fill() {
            return ports::end(port);
        }
        port.at += 1;
        Ok(V::small(port.buffer[port.at - 1].into()))
    }
    fn sch_peek_u8(port) -> V {
        let port = input("peek-u8", 1, port, true)?;
        if port.fill() { Ok(V::small(port.buffer[port.at].into())) } else { ports::end(port) }
    }
    fn sch_read_bytevector(k, port) -> V {
        let most = size("read-bytevector", k)?;
        let port = input("read-bytevector", 2, port, true)?;
        let mut all = Vec::new();
        while all.len() < most && port.fill() {
            let n = (most - all.len()).min(port.buffer.len() - port.at);
            all.extend_from_slice(&port.buffer[port.at..port.at + n]);
            port.at += n;
        }
        if all.is_empty() && most > 0 { ports::end(port) } else { Ok(value::bytes(&all)) }
    }
    fn sch_read_bytevector_x(b, port, start, end) -> V {
        let who = "read-bytevector!";
        let target = crate::vectors::writable(who, bytes::checked(who, 1, b)?)?.bytes();
        let range = range(who, 3, start, end, target.len())?;
        let target = &mut target[range];
        let port = input(who, 2, port, true)?;
        let mut got = 0;
        while got < target.len() && port.fill() {
            let n = (target.len() - got).min(port.buffer.len() - port.at);
            target[got..got + n].copy_from_slice(&port.buffer[port.at..port.at + n]);
            port.at += n;
            got += n;
        }
        if got == 0 && !target.is_empty() { ports::end(port) } else { Ok(V::small(got as i64)) }
    }
}
