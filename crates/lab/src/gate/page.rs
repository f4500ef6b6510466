//! What a gate prints.

use super::{Finding, Gate, Row};
use crate::table::{Table, counted, digits};
use crate::views::GEOMETRIC_MEAN;

/// The rows that are not fine, the means, and the conclusion.
pub fn page(gate: &Gate) -> String {
    let mut text = format!("Against {}\n", gate.against);
    let shown = |row: &&Row| row.finding != Finding::Fine || row.row == GEOMETRIC_MEAN;
    let mut table = Table::new([
        "row",
        "subject",
        "against",
        "then",
        "now",
        "change",
        "95 % interval",
        "verdict",
        "finding",
    ]);
    for row in gate.rows.iter().filter(shown) {
        table.row(cells(row));
    }
    if gate.rows.iter().any(|row| shown(&row)) {
        text += &format!("{table}\n");
    }
    for row in gate.rows.iter().filter(shown) {
        if let Some(why) = &row.why {
            text += &format!("{} {} of {}: {why}.\n", row.suite, row.row, row.subject);
        }
    }
    let sentences = |head: &str, all: &[String]| -> String {
        all.iter().map(|sentence| format!("{head}{sentence}.\n")).collect()
    };
    text += &sentences("Note: ", &gate.differences);
    text += &sentences("Cannot be compared: ", &gate.obstacles);
    text + &conclusion(gate)
}

fn cells(row: &Row) -> [String; 9] {
    let [then, now] =
        row.ratios.map(|ratio| if ratio.is_nan() { "lost".into() } else { digits(ratio) });
    let measured = !row.change.ratio.is_nan();
    let [low, high] = row.change.ci95;
    [
        format!("{} {}", row.suite, row.row),
        row.subject.clone(),
        row.baseline.clone(),
        then,
        now,
        if measured { format!("{:.3}", row.change.ratio) } else { String::new() },
        if low.is_finite() && high.is_finite() && measured {
            format!("{low:.3}–{high:.3}")
        } else {
            String::new()
        },
        if measured { row.change.verdict.word().into() } else { String::new() },
        word(row.finding).into(),
    ]
}

fn word(finding: Finding) -> &'static str {
    match finding {
        Finding::Fine => "fine",
        Finding::Undecided => "undecided",
        Finding::Regression => "REGRESSION",
    }
}

fn conclusion(gate: &Gate) -> String {
    let of = |finding| gate.rows.iter().filter(|row| row.finding == finding).count();
    let percent = format!("{:.2}", gate.threshold * 100.0);
    let percent = percent.trim_end_matches('0').trim_end_matches('.');
    let what = match gate.finding {
        Finding::Fine => format!("no row lost more than {percent} %"),
        Finding::Undecided => {
            format!("a loss of more than {percent} % is neither shown nor ruled out")
        }
        Finding::Regression => format!("something became worse by more than {percent} %"),
    };
    format!(
        "Of {} {} fine, {} undecided, {}: {what}.\n",
        counted(gate.rows.len(), "row"),
        of(Finding::Fine),
        of(Finding::Undecided),
        counted(of(Finding::Regression), "regression"),
    )
}
