//! One page with the flame graph, the functions that hold most, and the tree. It needs no network.

use crate::amount::{amount, share};
use crate::flame::svg;
use crate::stacks::Stacks;
use crate::symbols::Frame;
use crate::text::{name, text};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

/// Functions in the table.
const ROWS: usize = 40;

const STYLE: &str = "
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; } td, th { padding: .15rem .8rem; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
tr:nth-child(even) { background: color-mix(in srgb, currentColor 6%, transparent); }
td { overflow-wrap: anywhere; }
pre { overflow-x: auto; } .graph { overflow-x: auto; background: #fff; } .graph svg { width: 100%; height: auto; min-width: 40rem; }
.note { color: color-mix(in srgb, currentColor 70%, transparent); }
";

/// The page. `title` names the profile, for example by its file.
pub fn html(title: &str, stacks: &Stacks, least: f64) -> String {
    let title = escaped(title);
    let total = amount(stacks.total(), &stacks.value.unit);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title><style>{STYLE}</style></head><body>\n\
         <h1>{title}</h1>\n<p>{}: {total} in {} stacks.</p>\n",
        escaped(&stacks.value.name),
        stacks.stacks.len()
    );
    for note in &stacks.notes {
        writeln!(out, "<p class=\"note\">{}</p>", escaped(note)).unwrap();
    }
    if let Some(svg) = svg(stacks) {
        let svg = String::from_utf8_lossy(&svg);
        // The text before the element is only for separate files.
        let element = svg.find("<svg").map_or("", |at| &svg[at..]);
        writeln!(out, "<h2>Flame graph</h2>\n<div class=\"graph\">{element}</div>").unwrap();
    }
    functions(&mut out, stacks);
    writeln!(out, "<h2>Calls</h2>\n<pre>{}</pre>\n</body></html>", escaped(&text(stacks, least)))
        .unwrap();
    out
}

/// What each function holds by itself, and with its callees, counted once per stack.
fn functions(out: &mut String, stacks: &Stacks) {
    let mut held: HashMap<&Frame, (i64, i64)> = HashMap::new();
    for (stack, &amount) in &stacks.stacks {
        if let Some(leaf) = stack.last() {
            held.entry(leaf).or_default().0 += amount;
        }
        for frame in stack.iter().collect::<BTreeSet<_>>() {
            held.entry(frame).or_default().1 += amount;
        }
    }
    let mut rows: Vec<_> = held.into_iter().collect();
    rows.sort_by_key(|(frame, (own, all))| (-own.abs(), -all.abs(), *frame));
    let whole: i64 = stacks.stacks.values().map(|amount| amount.abs()).sum();
    let unit = &stacks.value.unit;
    writeln!(
        out,
        "<h2>Functions</h2>\n<table><tr><th class=\"n\">itself</th><th class=\"n\">share</th>\
         <th class=\"n\">with callees</th><th class=\"n\">share</th><th>function</th></tr>"
    )
    .unwrap();
    for (frame, (own, all)) in rows.iter().take(ROWS) {
        writeln!(
            out,
            "<tr><td class=\"n\">{}</td><td class=\"n\">{:.1}%</td><td class=\"n\">{}</td>\
             <td class=\"n\">{:.1}%</td><td>{}</td></tr>",
            amount(*own, unit),
            share(*own, whole),
            amount(*all, unit),
            share(*all, whole),
            escaped(&name(frame))
        )
        .unwrap();
    }
    out.push_str("</table>\n");
    if rows.len() > ROWS {
        writeln!(out, "<p class=\"note\">{} more hold less.</p>", rows.len() - ROWS).unwrap();
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
