//! A user interface in immediate mode: the whole tree is built anew for each frame, and the one
//! before is kept to find what changed.

use allod_frame::{Arena, Frame, Ring};

struct Node<'f> {
    label: &'f str,
    children: &'f [Node<'f>],
}

fn list<'f>(frame: &Frame<'f>, selected: usize) -> Node<'f> {
    let rows = frame.alloc_slice_fill_with(50, |row| Node {
        label: match row == selected {
            true => frame.alloc_fmt(format_args!("> row {row} <")),
            false => frame.alloc_fmt(format_args!("row {row}")),
        },
        children: &[],
    });
    Node { label: "list", children: rows }
}

/// Draws a tree as lines of text into the frame.
fn draw<'f>(frame: &Frame<'f>, node: &Node<'_>, depth: usize, lines: &mut Vec<&'f str>) {
    lines.push(frame.alloc_fmt(format_args!("{:depth$}{}", "", node.label)));
    for child in node.children {
        draw(frame, child, depth + 2, lines);
    }
}

/// Runs the example.
pub fn main() {
    let mut trees = Arena::new();
    // What is on the screen: this frame's text and the one before.
    let mut screens: Ring<str> = Ring::new(1);
    for tick in 0..20 {
        trees.frame(|frame| {
            let root = list(frame, tick);
            let mut lines = Vec::new();
            draw(frame, &root, 0, &mut lines);
            screens.frame(|f| f.alloc_str(&lines.join("\n")));
        });
        let now = screens.ago(0).unwrap();
        let changed = screens.ago(1).map_or(usize::MAX, |before| {
            now.lines().zip(before.lines()).filter(|(a, b)| a != b).count()
        });
        assert!(tick == 0 || changed == 2, "one row was left and one chosen");
    }
    println!("{}", screens.ago(0).unwrap().lines().nth(20).unwrap());
    println!("20 trees of 51 nodes in {} KiB", trees.reserved() >> 10);
}
