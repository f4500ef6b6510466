//! What programs print for other programs: a `name=value` line for each thing that they tell.

/// The value of a `name=value` line.
pub(crate) fn field<'a>(text: &'a str, name: &str) -> &'a str {
    text.lines()
        .filter_map(|line| line.split_once('='))
        .find(|(key, _)| *key == name)
        .map_or("", |(_, value)| value)
}
