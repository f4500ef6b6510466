//! Points: every combination of the factors' levels, and their names.

/// The names of the factors and of all their combinations.
///
/// ```
/// use allod_lab::experiment::Points;
/// let points = Points::of(&["B4", "B5+B6"]);
/// assert_eq!(points.names, ["none", "B4", "B5+B6", "B4,B5+B6"]);
/// assert_eq!(points.on(3), ["B4", "B5+B6"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points {
    /// The factors' names.
    pub factors: Vec<String>,
    /// The points' names, by their numbers.
    pub names: Vec<String>,
}

/// The name of the point with all factors off.
pub const NONE: &str = "none";

impl Points {
    /// All combinations, named after the factors that are on.
    pub fn of<S: AsRef<str>>(factors: &[S]) -> Self {
        let factors: Vec<String> = factors.iter().map(|f| f.as_ref().to_owned()).collect();
        let mut points = Self { names: Vec::new(), factors };
        points.names = (0..1 << points.factors.len()).map(|point| points.name(point)).collect();
        points
    }

    /// The two sides of an A/B test: the factor is the change from the first to the
    /// second.
    pub fn pair(a: &str, b: &str) -> Self {
        Self { factors: vec![b.into()], names: vec![a.into(), b.into()] }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.names.len()
    }

    /// The factors that are on at a point.
    pub fn on(&self, point: usize) -> Vec<String> {
        let on = self.factors.iter().enumerate().filter(|(i, _)| point >> i & 1 == 1);
        on.map(|(_, name)| name.clone()).collect()
    }

    fn name(&self, point: usize) -> String {
        if point == 0 { NONE.into() } else { self.on(point).join(",") }
    }
}
