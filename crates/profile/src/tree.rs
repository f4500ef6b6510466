//! Stacks as a tree of calls.

use crate::stacks::Stacks;
use crate::symbols::Frame;
use std::collections::BTreeMap;

/// A function, on one path from the root.
#[derive(Default)]
pub struct Node {
    /// What it holds, with its callees.
    pub amount: i64,
    /// Its callees.
    pub callees: BTreeMap<Frame, Node>,
}

impl Node {
    /// The root of all stacks.
    pub fn of(stacks: &Stacks) -> Node {
        let mut root = Node::default();
        for (stack, &amount) in &stacks.stacks {
            let mut at = &mut root;
            at.amount += amount;
            for frame in stack {
                at = at.callees.entry(frame.clone()).or_default();
                at.amount += amount;
            }
        }
        root
    }

    /// Its callees, those with the largest amounts (or losses) first; and the number of those left out
    /// because they have less than `least`.
    pub fn largest(&self, least: i64) -> (Vec<(&Frame, &Node)>, usize) {
        let large = |node: &Node| node.amount.abs() >= least.max(1);
        let mut shown: Vec<_> = self.callees.iter().filter(|(_, node)| large(node)).collect();
        shown.sort_by_key(|(_, node)| -node.amount.abs());
        let left_out = self.callees.len() - shown.len();
        (shown, left_out)
    }
}
