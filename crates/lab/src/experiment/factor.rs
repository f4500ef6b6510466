//! Factors: what is varied, between two levels.

use super::level::Level;
use super::point::NONE;

/// The fewest and the most factors of a matrix: 2⁶ points are 64 processes in every round.
pub const FACTORS: std::ops::RangeInclusive<usize> = 2..=6;

/// Something that is off or on.
///
/// ```
/// use allod_lab::experiment::Factor;
/// let factor = Factor::parse("B4=ALLOD_BAND_B4=0|ALLOD_BAND_B4=1")?;
/// assert_eq!((factor.name.as_str(), factor.off.text.as_str()), ("B4", "ALLOD_BAND_B4=0"));
/// // An empty level changes nothing.
/// assert!(Factor::parse("counters=|features:allod-heap/stats").is_ok());
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Factor {
    /// Its name.
    pub name: String,
    /// What it is when it is off.
    pub off: Level,
    /// What it is when it is on.
    pub on: Level,
}

impl Factor {
    /// Reads `NAME=OFF|ON`.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (name, levels) = text.split_once('=').ok_or_else(|| {
            format!("{text:?} is not NAME=OFF|ON, such as huge=ALLOD_HUGEPAGES=0|ALLOD_HUGEPAGES=2")
        })?;
        let name = name.trim();
        if name.is_empty() || name == NONE || name.contains([',', '|', ':']) {
            return Err(format!("a factor cannot be called {name:?}"));
        }
        let levels: Vec<&str> = levels.split('|').collect();
        let [off, on] = levels[..] else {
            return Err(format!(
                "factor {name} has {}, but needs two: {name}=OFF|ON",
                match levels.len() {
                    1 => "one level".into(),
                    n => format!("{n} levels"),
                }
            ));
        };
        Self::new(name, Level::parse(off)?, Level::parse(on)?)
    }

    /// A factor of two levels.
    ///
    /// # Errors
    /// When they are the same.
    pub fn new(name: &str, off: Level, on: Level) -> Result<Self, String> {
        let changed = |level: &Level| Level { text: String::new(), ..level.clone() };
        if changed(&off) == changed(&on) {
            return Err(format!("the two levels of {name} are the same: {:?}", off.text));
        }
        Ok(Self { name: name.into(), off, on })
    }

    /// What one of its levels, or both, set.
    fn decides(&self) -> Vec<&str> {
        let mut all = self.off.decides();
        all.extend(self.on.decides());
        all
    }
}

/// Checks that factors can be varied independently of each other.
///
/// # Errors
/// When one is named twice, or two of them set the same thing.
pub fn independent(factors: &[Factor]) -> Result<(), String> {
    for (i, factor) in factors.iter().enumerate() {
        for earlier in &factors[..i] {
            if earlier.name == factor.name {
                return Err(format!("factor {} is named twice", factor.name));
            }
            if let Some(what) = factor.decides().into_iter().find(|w| earlier.decides().contains(w))
            {
                let (one, other) = (&earlier.name, &factor.name);
                return Err(format!(
                    "{one} and {other} both set {what}, so they cannot be varied independently"
                ));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_factor_has_two_levels_that_differ() {
        for (text, words) in [
            ("huge", "is not NAME=OFF|ON"),
            ("huge=A=1", "factor huge has one level"),
            ("huge=A=1|A=2|A=3", "factor huge has 3 levels"),
            ("huge=A=1|A=1", "are the same"),
            ("huge=A=1 B=2|A=1  B=2", "are the same"),
            ("=A=1|A=2", "cannot be called"),
            ("none=A=1|A=2", "cannot be called"),
            ("a,b=A=1|A=2", "cannot be called"),
            ("huge=A=1|-x", "is not part of a level"),
        ] {
            let why = Factor::parse(text).unwrap_err();
            assert!(why.contains(words), "{text}: {why}");
        }
    }

    #[test]
    fn factors_are_named_once_and_decide_different_things() {
        let all = |texts: &[&str]| {
            let factors: Result<Vec<Factor>, String> =
                texts.iter().map(|t| Factor::parse(t)).collect();
            independent(&factors.unwrap())
        };
        assert_eq!(all(&["x=A=0|A=1", "y=B=0|B=1", "z=features:f|features:g"]), Ok(()));
        assert_eq!(all(&["x=A=0|A=1", "x=B=0|B=1"]).unwrap_err(), "factor x is named twice");
        let why = all(&["x=A=0|A=1", "y=|A=2"]).unwrap_err();
        assert_eq!(why, "x and y both set A, so they cannot be varied independently");
        let why = all(&["x=commit:a|commit:b", "y=|commit:c"]).unwrap_err();
        assert!(why.contains("the commit"), "{why}");
    }
}
