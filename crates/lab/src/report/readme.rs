//! A suite's table in an existing Markdown page, such as README.

use super::Given;
use super::scorecard::{Line, Mean, Scorecard};
use super::suite::Suite;
use crate::table::{counted, digits, nanoseconds};

const NANOSECONDS: &str = "ns/op";

/// Puts the table of each suite between its lines `<!-- SUITE table -->` and `<!-- end of SUITE table -->`.
///
/// # Errors
/// When the page has no suite's lines, or only the first of the two.
pub fn update(page: &str, all: &[Given]) -> Result<String, String> {
    let mut page = page.to_owned();
    let mut found = false;
    let suites: Vec<Suite> = all.iter().flat_map(|given| Suite::all(&given.report)).collect();
    for suite in &suites {
        let (start, end) = marks(suite.name);
        let Some((before, rest)) = page.split_once(&start) else { continue };
        let Some((_, after)) = rest.split_once(&end) else {
            return Err(format!("there is no {end} after {}", start.trim_end()));
        };
        page = format!("{before}{start}{}{end}{after}", table(suite));
        found = true;
    }
    if found {
        return Ok(page);
    }
    let wanted: Vec<String> =
        suites.iter().map(|s| marks(s.name).0.trim_end().to_owned()).collect();
    Err(format!("there is no line {}", wanted.join(" or ")))
}

fn marks(suite: &str) -> (String, String) {
    (format!("<!-- {suite} table -->\n"), format!("<!-- end of {suite} table -->"))
}

/// The cost of each row on the reference, and times faster for all others.
fn table(suite: &Suite) -> String {
    let card = Scorecard::of(suite);
    let mut subjects: Vec<&str> =
        suite.subjects.iter().copied().filter(|s| *s != suite.reference).collect();
    subjects.sort_by_key(|s| card.ours.as_deref() != Some(s));
    let mut text = format!("| | {} | {} |\n", subjects.join(" | "), suite.reference);
    text += &format!("| --- |{}\n", " ---: |".repeat(subjects.len() + 1));
    let unit = suite.rows.first().map_or(NANOSECONDS, |row| suite.unit(row));
    for row in &suite.rows {
        let ratio = |s: &&str| suite.ratio(row, s, suite.reference).map(|share| share.ratio);
        let own = suite.median(row, suite.reference);
        let own = own.map(if unit == NANOSECONDS { nanoseconds } else { digits });
        let own = own.map_or("1".into(), |own| format!("1 ({own})"));
        text += &line(row, subjects.iter().map(ratio), &own);
    }
    let mut means = |name: &str, mean: &dyn Fn(&Line) -> Option<Mean>| {
        let of = |s: &&str| Some(mean(card.line(s)?)?.share.ratio);
        if subjects.iter().any(|s| of(s).is_some()) {
            text += &line(name, subjects.iter().map(of), "1");
        }
    };
    means("geometric mean", &|line| line.throughput);
    means(&format!("without {}", card.extremes.join(", ")), &|line| line.without_extremes);
    means("times leaner at the peak", &|line| line.memory);
    let m = &suite.report.machine;
    text + &format!(
        "\n{}, {}, {}; medians of {}; in brackets {}.\n",
        m.cpu,
        counted(m.cores, "processor"),
        m.os,
        counted(suite.report.rounds(), "interleaved round"),
        if unit == NANOSECONDS { "nanoseconds per operation" } else { unit }
    )
}

fn line(name: &str, ratios: impl Iterator<Item = Option<f64>>, own: &str) -> String {
    let cells: Vec<String> = ratios
        .map(|ratio| match ratio {
            Some(ratio) if ratio >= 1.0 => format!("**{}**", digits(ratio)),
            Some(ratio) => digits(ratio),
            None => "lost".into(),
        })
        .collect();
    // A hyphen at which no browser breaks the line.
    format!("| {} | {} | {own} |\n", name.replace('-', "\u{2011}"), cells.join(" | "))
}
