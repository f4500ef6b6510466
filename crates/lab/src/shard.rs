//! A share of the workloads: `--shard 2/5`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One share of several. Workloads are not split, so everything that is compared is measured on one
/// machine.
///
/// ```
/// use allod_lab::Shard;
/// let shard: Shard = "2/3".parse()?;
/// // Dealt out in turn, since neighbouring workloads take about equally long.
/// assert_eq!(shard.of(&["a", "b", "c", "d", "e"]), ["b", "e"]);
/// assert_eq!("4/3".parse::<Shard>().unwrap_err(), "4/3: there are 3 shares, the first is 1/3");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shard {
    /// Which share, from 1.
    pub number: u32,
    /// How many shares there are.
    pub shares: u32,
}

impl Shard {
    /// This share of some workloads.
    pub fn of<T: Clone>(self, workloads: &[T]) -> Vec<T> {
        let mine = workloads.iter().skip(self.number as usize - 1).step_by(self.shares as usize);
        mine.cloned().collect()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.shares)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read =
            |(number, shares): (&str, &str)| Some((number.parse().ok()?, shares.parse().ok()?));
        match text.split_once('/').and_then(read) {
            Some((_, 0)) => Err(format!("{text}: there is at least one share, 1/1")),
            Some((number, shares)) if (1..=shares).contains(&number) => Ok(Self { number, shares }),
            Some((_, 1)) => Err(format!("{text}: there is one share, 1/1")),
            Some((_, shares)) => {
                Err(format!("{text}: there are {shares} shares, the first is 1/{shares}"))
            }
            None => Err("expected a share, such as 2/5".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_whole_and_apart() {
        let all: Vec<u32> = (0..17).collect();
        for shares in 1..20 {
            let of = |number| Shard { number, shares }.of(&all);
            let mut together: Vec<u32> = (1..=shares).flat_map(of).collect();
            together.sort_unstable();
            assert_eq!(together, all, "{shares}");
        }
    }

    #[test]
    fn a_share_that_is_none_is_refused() {
        for (text, words) in [
            ("0/5", "the first is 1/5"),
            ("6/5", "there are 5 shares"),
            ("1/0", "at least"),
            ("2/1", "there is one share, 1/1"),
            ("2", "such as 2/5"),
            ("-1/5", "such as 2/5"),
            ("x/5", "such as 2/5"),
        ] {
            let why = text.parse::<Shard>().unwrap_err();
            assert!(why.contains(words), "{text}: {why}");
        }
        assert_eq!("5/5".parse::<Shard>().map(|s| s.to_string()), Ok("5/5".into()));
    }
}
