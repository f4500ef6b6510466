//! What lies on the stack of roots, so that nothing is stored there twice.
//!
//! A call keeps what is alive after it at `sp[0]` … `sp[n - 1]`, and nothing else. What was kept there by the call
//! before, and is still alive, stays in its place: locals never change, and where a call moves what they lead
//! to, it changes the roots, from which the locals are loaded again. A call that moves nothing (`Flow::quiet`) leaves all
//! where it is.

use crate::core::Var;

/// The locals at `sp[0]`, `sp[1]` … as far as they are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Roots(Vec<Option<Var>>);

impl Roots {
    /// Nothing is known: control comes from elsewhere.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    /// Only what is known on another path, too.
    pub(super) fn meet(&mut self, other: &Roots) {
        self.0.truncate(other.0.len());
        for (here, there) in self.0.iter_mut().zip(&other.0) {
            if here != there {
                *here = None;
            }
        }
    }

    /// How many places are in use, at most.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Gives each of the locals that are alive a place, and says which places are still to be stored to.
    pub(super) fn hold(&mut self, live: &[Var]) -> (Vec<Var>, Vec<usize>) {
        self.0.resize(live.len(), None);
        for root in &mut self.0 {
            *root = root.filter(|var| live.contains(var));
        }
        let mut missing: Vec<Var> =
            live.iter().filter(|var| !self.0.contains(&Some(**var))).copied().rev().collect();
        let mut stored = Vec::new();
        for (i, root) in self.0.iter_mut().enumerate() {
            if root.is_none() {
                *root = missing.pop();
                stored.push(i);
            }
        }
        (self.0.iter().flatten().copied().collect(), stored)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_alive_keeps_its_place() {
        let mut roots = Roots::default();
        let [a, b, c, d] = [1, 2, 3, 4].map(Var);
        assert_eq!(roots.hold(&[a, b, c]), (vec![a, b, c], vec![0, 1, 2]));
        assert_eq!(roots.hold(&[a, c, d]), (vec![a, d, c], vec![1]));
        assert_eq!(roots.hold(&[c, d]), (vec![c, d], vec![0]));
        assert_eq!(roots.hold(&[c, d]), (vec![c, d], vec![]));
    }

    #[test]
    fn after_two_paths_only_what_both_stored_is_known() {
        let mut roots = Roots::default();
        let [a, b, c] = [1, 2, 3].map(Var);
        roots.hold(&[a, b]);
        let mut other = roots.clone();
        other.hold(&[a, c]);
        roots.meet(&other);
        assert_eq!(roots.hold(&[a, b]), (vec![a, b], vec![1]));
    }
}
