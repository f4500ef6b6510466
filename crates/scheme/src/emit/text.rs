//! Texts of the program in C.

use std::fmt::Write;

/// A C string literal.
pub(super) fn c_string(text: &str) -> String {
    let mut c = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                c.push('\\');
                c.push(byte.into());
            }
            b'?' => c += "\\?",
            b' '..=b'~' => c.push(byte.into()),
            _ => write!(c, "\\{byte:03o}").expect("strings grow"),
        }
    }
    c.push('"');
    c
}

/// A name inside a comment.
pub(super) fn comment(name: &str) -> String {
    name.chars()
        .map(|c| if c.is_ascii_alphanumeric() || "-!?<>=+".contains(c) { c } else { '_' })
        .collect()
}
