//! Names that users type: for an unknown one, the most similar known one is suggested.

/// The known name most similar to `name`, if any is similar.
///
/// ```
/// use allod_lab::names::nearest;
/// assert_eq!(nearest("mimaloc", &["system", "mimalloc-3.3.2"]), Some("mimalloc-3.3.2"));
/// assert_eq!(nearest("xyz", &["system", "mimalloc-3.3.2"]), None);
/// ```
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let likeness = |known: &&str| strsim::jaro_winkler(name, known);
    let best = known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&best) > 0.7).then_some(best)
}

/// A sentence about a name that is unknown.
///
/// ```
/// let words = allod_lab::names::unknown("workload", "pears-16", &["lifo", "pairs-16"]);
/// assert_eq!(words, "no workload \"pears-16\"; did you mean pairs-16? There are: lifo, pairs-16");
/// ```
pub fn unknown(kind: &str, name: &str, known: &[&str]) -> String {
    let all = known.join(", ");
    match nearest(name, known) {
        Some(near) => format!("no {kind} {name:?}; did you mean {near}? There are: {all}"),
        None => format!("no {kind} {name:?}; there are: {all}"),
    }
}

/// Checks that all names are known.
///
/// # Errors
/// With a sentence about the first one that is not.
pub fn all_known(kind: &str, wanted: &[String], known: &[&str]) -> Result<(), String> {
    match wanted.iter().find(|name| !known.contains(&name.as_str())) {
        Some(name) => Err(unknown(kind, name, known)),
        None => Ok(()),
    }
}
