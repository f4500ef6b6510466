//! Characters that have names.

const NAMES: [(&str, char); 9] = [
    ("alarm", '\u{7}'),
    ("backspace", '\u{8}'),
    ("delete", '\u{7f}'),
    ("escape", '\u{1b}'),
    ("newline", '\n'),
    ("null", '\0'),
    ("return", '\r'),
    ("space", ' '),
    ("tab", '\t'),
];

/// The character of a name.
pub fn named_char(name: &str) -> Option<char> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, c)| *c)
}

/// The name of a character, where it has one.
pub fn char_name(c: char) -> Option<&'static str> {
    NAMES.iter().find(|(_, known)| *known == c).map(|(name, _)| *name)
}
