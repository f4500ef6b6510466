//! The tree of calls as text.

use crate::amount::{amount, share};
use crate::stacks::Stacks;
use crate::symbols::Frame;
use crate::tree::Node;
use std::fmt::Write;

/// The tree of calls: what each function holds with its callees, the largest first. Functions that hold less
/// than `least` percent are left out, and counted.
pub fn text(stacks: &Stacks, least: f64) -> String {
    let root = Node::of(stacks);
    // Some stacks may have grown and others shrunk: shares are of all changes.
    let whole: i64 = stacks.stacks.values().map(|amount| amount.abs()).sum();
    let mut out = String::new();
    let total = amount(stacks.total(), &stacks.value.unit);
    writeln!(out, "{}: {total} in {} stacks", stacks.value.name, stacks.stacks.len()).unwrap();
    for note in &stacks.notes {
        writeln!(out, "note: {note}").unwrap();
    }
    if whole > 0 {
        writeln!(out, "{:>12} {:>7}  function", "amount", "share").unwrap();
        let mut tree = Tree { unit: &stacks.value.unit, whole, least: 0, out: &mut out };
        tree.least = (whole as f64 * least / 100.0) as i64;
        tree.callees(&root, "");
    }
    out
}

struct Tree<'a> {
    unit: &'a str,
    whole: i64,
    least: i64,
    out: &'a mut String,
}

impl Tree<'_> {
    fn callees(&mut self, node: &Node, indent: &str) {
        let (shown, left_out) = node.largest(self.least);
        // A chain of calls without branches stays in one column.
        let alone = shown.len() == 1 && left_out == 0;
        for (i, (frame, callee)) in shown.iter().enumerate() {
            let last = i + 1 == shown.len() && left_out == 0;
            let (sign, below) = match (alone, last) {
                (true, _) => ("", ""),
                (false, true) => ("└─ ", "   "),
                (false, false) => ("├─ ", "│  "),
            };
            let value = amount(callee.amount, self.unit);
            let part = share(callee.amount, self.whole);
            writeln!(self.out, "{value:>12} {part:>6.1}%  {indent}{sign}{}", name(frame)).unwrap();
            self.callees(callee, &format!("{indent}{below}"));
        }
        if left_out > 0 && (!shown.is_empty() || indent.is_empty()) {
            let functions = if left_out == 1 { "function" } else { "functions" };
            writeln!(self.out, "{:>20}  {indent}└─ {left_out} smaller {functions}", "").unwrap();
        }
    }
}

/// A function with its source location.
pub fn name(frame: &Frame) -> String {
    match frame.place.as_str() {
        "" => frame.function.clone(),
        place => format!("{} ({place})", frame.function),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks::Value;
    use std::collections::{BTreeMap, BTreeSet};

    fn stacks(all: &[(&str, i64)]) -> Stacks {
        let frame = |name: &str| Frame { function: name.to_owned(), place: String::new() };
        let stack = |text: &str| text.split(';').map(frame).collect::<Vec<_>>();
        Stacks {
            value: Value { name: "inuse_space".into(), unit: "bytes".into() },
            stacks: all
                .iter()
                .map(|(text, amount)| (stack(text), *amount))
                .collect::<BTreeMap<_, _>>(),
            notes: BTreeSet::new(),
        }
    }

    #[test]
    fn the_largest_come_first_and_small_ones_are_counted() {
        let text = text(
            &stacks(&[("main;a;b", 600), ("main;c", 2400), ("main;d", 2), ("main;e", 1)]),
            1.0,
        );
        let expected = "\
inuse_space: 2.9 KiB in 4 stacks
      amount   share  function
     2.9 KiB  100.0%  main
     2.3 KiB   79.9%  ├─ c
       600 B   20.0%  ├─ a
       600 B   20.0%  │  b
                      └─ 2 smaller functions
";
        assert_eq!(text, expected);
    }

    #[test]
    fn an_empty_profile_and_a_difference_are_shown_too() {
        assert_eq!(text(&stacks(&[]), 1.0), "inuse_space: 0 B in 0 stacks\n");
        let text = text(&stacks(&[("a", 100), ("b", -300)]), 1.0);
        assert!(text.contains("      -300 B  -75.0%  ├─ b\n"), "{text}");
    }
}
