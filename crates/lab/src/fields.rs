//! Output of programs for programs: lines of the form `name=value`.

/// The value of a `name=value` line.
pub(crate) fn field<'a>(text: &'a str, name: &str) -> &'a str {
    text.lines()
        .filter_map(|line| line.split_once('='))
        .find(|(key, _)| *key == name)
        .map_or("", |(_, value)| value)
}
