//! Stacks as a flame graph.

use crate::stacks::Stacks;
use inferno::flamegraph::{self, Options, color};

/// A flame graph in SVG, which can be searched and zoomed in a browser; a function's width is the amount that
/// it holds.
///
/// `None` if no stack holds anything. Stacks that shrank between two profiles have no width, so they are left
/// out.
pub fn svg(stacks: &Stacks) -> Option<Vec<u8>> {
    let held = || stacks.stacks.iter().filter(|(_, amount)| **amount > 0);
    let lines: Vec<String> = held().map(|(stack, amount)| line(stack, *amount)).collect();
    if lines.is_empty() {
        return None;
    }
    let mut options = Options::default();
    options.title = stacks.value.name.clone();
    options.count_name = stacks.value.unit.clone();
    options.colors = color::Palette::Basic(color::BasicPalette::Mem);
    options.deterministic = true;
    let mut svg = Vec::new();
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), &mut svg)
        .expect("there are lines, and memory takes all that is written");
    Some(svg)
}

/// The input of flame graphs: functions separated by semicolons, and the amount.
fn line(stack: &[crate::symbols::Frame], amount: i64) -> String {
    let names: Vec<String> = stack.iter().map(|frame| frame.function.replace(';', ":")).collect();
    match names.is_empty() {
        true => format!("(no stack) {amount}"),
        false => format!("{} {amount}", names.join(";")),
    }
}
