//! The stacks of a profile, for one of its values.

use crate::format::Profile;
use crate::symbols::{Frame, Symbols};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A type of value in a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Such as `inuse_space`.
    pub name: String,
    /// Such as `bytes`.
    pub unit: String,
}

/// Stacks and their amounts.
pub struct Stacks {
    /// What the amounts are.
    pub value: Value,
    /// By stack, the outermost function first; no stack twice, none with an amount of 0.
    pub stacks: BTreeMap<Vec<Frame>, i64>,
    /// Notes for the reader, such as changed files.
    pub notes: BTreeSet<String>,
}

impl Stacks {
    /// The stacks of a profile, for the named value, or for the profile's default. If it has no such value,
    /// the error lists those that it has.
    pub fn of(profile: &Profile, name: Option<&str>) -> Result<Stacks, String> {
        let number = number_of(profile, name)?;
        let kind = &profile.sample_type[number];
        let value = Value {
            name: profile.text(kind.name).to_owned(),
            unit: profile.text(kind.unit).to_owned(),
        };
        let mut symbols = Symbols::new(profile);
        let mut frames: HashMap<u64, Vec<Frame>> = HashMap::new();
        for location in &profile.location {
            frames.entry(location.id).or_insert_with(|| symbols.frames(location));
        }
        let mut stacks = BTreeMap::new();
        for sample in &profile.sample {
            let known = sample.location_id.iter().rev().filter_map(|id| frames.get(id));
            let stack: Vec<Frame> = known.flatten().cloned().collect();
            *stacks.entry(stack).or_insert(0) += sample.value[number];
        }
        stacks.retain(|_, amount| *amount != 0);
        Ok(Stacks { value, stacks, notes: symbols.notes })
    }

    /// The differences from another profile; shrunk stacks are negative. Both must be of the same value.
    pub fn since(mut self, before: &Stacks) -> Result<Stacks, String> {
        if self.value != before.value {
            let (now, then) = (&self.value.name, &before.value.name);
            return Err(format!("the profiles have different values: {now}, and {then} before"));
        }
        for (stack, amount) in &before.stacks {
            *self.stacks.entry(stack.clone()).or_insert(0) -= amount;
        }
        self.stacks.retain(|_, amount| *amount != 0);
        self.notes.extend(before.notes.iter().cloned());
        Ok(self)
    }

    /// The sum over all stacks.
    pub fn total(&self) -> i64 {
        self.stacks.values().sum()
    }
}

fn number_of(profile: &Profile, name: Option<&str>) -> Result<usize, String> {
    let kinds = || profile.sample_type.iter().map(|kind| profile.text(kind.name));
    let Some(name) = name else {
        let default = profile.text(profile.default_sample_type);
        // Like other readers of the format: the last one if the profile has no default.
        return Ok(kinds()
            .position(|kind| kind == default)
            .unwrap_or(profile.sample_type.len() - 1));
    };
    kinds().position(|kind| kind == name).ok_or_else(|| {
        let all: Vec<&str> = kinds().collect();
        format!("the profile has no value {name}; it has {}", all.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Function, Line, Location, Sample, ValueType};

    /// `main` calls `a`, in which `b` is inlined.
    fn profile() -> Profile {
        let texts = ["", "inuse_space", "bytes", "main", "a", "b", "x.c", "inuse_objects", "count"];
        let function = |id, name| Function { id, name, filename: 6 };
        let line = |function_id, line| Line { function_id, line };
        let location = |id, line| Location { id, mapping_id: 0, address: id, line };
        Profile {
            sample_type: vec![ValueType { name: 7, unit: 8 }, ValueType { name: 1, unit: 2 }],
            sample: vec![
                Sample { location_id: vec![2, 1], value: vec![1, 100] },
                Sample { location_id: vec![1], value: vec![2, 30] },
                Sample { location_id: vec![1], value: vec![1, 20] },
            ],
            mapping: Vec::new(),
            location: vec![
                location(1, vec![line(1, 9)]),
                location(2, vec![line(3, 4), line(2, 5)]),
            ],
            function: vec![function(1, 3), function(2, 4), function(3, 5)],
            string_table: texts.map(String::from).to_vec(),
            default_sample_type: 1,
        }
    }

    fn named(stacks: &Stacks) -> Vec<(String, i64)> {
        let names = |stack: &[Frame]| {
            stack
                .iter()
                .map(|f| format!("{} {}", f.function, f.place))
                .collect::<Vec<_>>()
                .join(";")
        };
        stacks.stacks.iter().map(|(stack, amount)| (names(stack), *amount)).collect()
    }

    #[test]
    fn stacks_begin_outside_and_are_summed() {
        let stacks = Stacks::of(&profile(), None).unwrap();
        assert_eq!(stacks.value.name, "inuse_space");
        let expected = [("main x.c:9", 50), ("main x.c:9;a x.c:5;b x.c:4", 100)];
        assert_eq!(named(&stacks), expected.map(|(names, amount)| (names.to_owned(), amount)));
        assert_eq!(stacks.total(), 150);
        assert_eq!(Stacks::of(&profile(), Some("inuse_objects")).unwrap().total(), 4);
    }

    #[test]
    fn what_has_not_changed_is_not_in_a_difference() {
        let mut later = profile();
        later.sample[0].value[1] = 70;
        let before = Stacks::of(&profile(), None).unwrap();
        let grown = Stacks::of(&later, None).unwrap().since(&before).unwrap();
        assert_eq!(named(&grown), [("main x.c:9;a x.c:5;b x.c:4".to_owned(), -30)]);
        let objects = Stacks::of(&profile(), Some("inuse_objects")).unwrap();
        assert!(objects.since(&before).is_err());
    }

    #[test]
    fn a_value_that_is_not_there_is_named_with_those_that_are() {
        let why = Stacks::of(&profile(), Some("cpu")).err().unwrap();
        assert!(why.ends_with("it has inuse_objects, inuse_space"), "{why}");
    }
}
