//! Numbers in JSON, which has only finite ones: others are written as null, and read as NaN.

use serde::{Deserialize, Deserializer};

/// Reads a number that may be null.
pub(crate) fn one<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
}

/// Reads two of them.
pub(crate) fn two<'de, D: Deserializer<'de>>(from: D) -> Result<[f64; 2], D::Error> {
    let both: [Option<f64>; 2] = Deserialize::deserialize(from)?;
    Ok(both.map(|number| number.unwrap_or(f64::NAN)))
}
