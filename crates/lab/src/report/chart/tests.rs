//! Charts as text; tests/reports.sh checks their appearance in a browser.

use super::*;
use crate::report::Share;

fn share(ratio: f64, ci95: Option<[f64; 2]>) -> Share {
    Share { ratio, ci95 }
}

fn sample() -> String {
    let entry = |name: &str, share| Entry { name: name.into(), share };
    let entries = [
        entry("fast", share(2.0, Some([1.5, 2.5]))),
        entry("slow", share(0.5, Some([0.4, 0.6]))),
        entry("who knows", share(1.1, Some([0.9, 1.3]))),
    ];
    forest("Ratios of \"lifo\" <&>", "times faster than mimalloc", &entries)
}

#[test]
fn a_forest_has_a_dot_for_each_ratio_in_the_colour_of_what_is_known() {
    let svg = sample();
    let circles: Vec<&str> = svg.lines().filter(|l| l.starts_with("<circle")).collect();
    assert_eq!(circles.len(), 3, "{svg}");
    for (circle, attribute) in
        circles.iter().zip(["fill=\"#0B62C4\"", "fill=\"#C2410C\"", "fill=\"none\""])
    {
        assert!(circle.contains(attribute), "{attribute} in {circle}");
    }
    assert!(svg.contains("times faster than mimalloc") && svg.contains("who knows"), "{svg}");
}

#[test]
fn labels_are_escaped() {
    let svg = sample();
    assert!(svg.contains("aria-label=\"Ratios of &quot;lifo&quot; &lt;&amp;&gt;\""), "{svg}");
    let strip = Strip { name: "<b>&".into(), values: vec![1.0, 2.0] };
    let svg = strips("x", "ns/op", &[strip]);
    assert!(svg.contains("&lt;b&gt;&amp;") && !svg.contains("<b>"), "{svg}");
}

#[test]
fn every_colour_that_is_drawn_has_a_value_for_dark_pages() {
    let line = |i: usize| Line {
        name: i.to_string(),
        points: vec![(0.0, 1.0), (1.0, i as f64 + 1.0)],
        intervals: vec![[0.5, 1.5]; 2],
        dashed: false,
    };
    let style = Style { label: "x", along: "run", names: None, unit: "KiB", ratios: false };
    let all: Vec<Line> = (0..10).map(line).collect();
    let strip = Strip { name: "a".into(), values: vec![1.0, 2.0, 3.0] };
    let sheet = style_sheet();
    for svg in [sample(), lines(&style, &all), strips("x", "ns/op", &[strip])] {
        let colours = svg.split(['"', ' ']).filter(|word| word.starts_with('#'));
        for colour in colours {
            assert!(sheet.contains(&format!("[fill=\"{colour}\"]")), "{colour} in {sheet}");
        }
    }
}

#[test]
fn long_names_lose_their_middle() {
    assert_eq!(fitting("mimalloc-3.6.0"), "mimalloc-3.6.0");
    let long = fitting("an-allocator-with-a-very-long-name-1.2.3");
    assert!(width(&long) <= WIDEST && width(&long) > WIDEST - 20.0, "{long}");
    assert!(long.starts_with("an-alloc") && long.ends_with("-1.2.3"), "{long}");
}

#[test]
fn the_ninth_line_is_dashed() {
    let line = |i: usize| Line {
        name: i.to_string(),
        points: vec![(0.0, 1.0), (100.0, 2.0)],
        intervals: vec![],
        dashed: false,
    };
    let style = Style { label: "x", along: "calls", names: None, unit: "KiB", ratios: false };
    let pieces = |n: usize| {
        let all: Vec<Line> = (0..n).map(line).collect();
        lines(&style, &all).matches("<polyline").count()
    };
    assert!(pieces(9) > pieces(8) + 5, "{} and {}", pieces(8), pieces(9));
}
