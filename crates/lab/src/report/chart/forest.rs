//! Ratios with their intervals, one below the other.

use super::{Axis, Ink, Scale, Surroundings, draw, fitting, font, path, room};
use crate::report::suite::Share;
use crate::table::digits;
use plotters::element::{Circle, Text};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// The height of a line.
const LINE: u32 = 18;

/// One ratio.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The ratio, with its interval.
    pub share: Share,
}

impl Entry {
    /// Blue above 1 and orange below, where the whole interval is on that side.
    fn ink(&self) -> Ink {
        let [low, high] = self.share.ci95.unwrap_or([self.share.ratio; 2]);
        if low > 1.0 {
            Ink::Go
        } else if high < 1.0 {
            Ink::NoGo
        } else {
            Ink::Neutral
        }
    }
}

/// A dot for each ratio and a line for its interval, on a logarithmic axis with 1 marked. `what` labels the
/// ratios, such as `times faster than mimalloc`.
pub fn forest(label: &str, what: &str, entries: &[Entry]) -> String {
    let ends = |e: &Entry| e.share.ci95.unwrap_or([e.share.ratio; 2]);
    let values = entries.iter().flat_map(|e| ends(e).into_iter().chain([e.share.ratio]));
    let names: Vec<String> = entries.iter().map(|e| fitting(&e.name)).collect();
    let around = Surroundings {
        label,
        height: 46 + LINE * entries.len() as u32,
        x: Axis::over(Scale::Logarithmic, values.chain([0.9, 1.1]), 5),
        left: room(names.iter().map(String::as_str)),
        y: Axis::names(names, true),
        names: [what, ""],
        right: 44,
        lines_across: false,
    };
    draw(around, |plot, whole| {
        let area = plot.plotting_area().clone();
        let bottom = entries.len() as f64 - 0.5;
        area.draw(&path([(1.0, -0.5), (1.0, bottom)], Ink::Muted, 1)).expect(super::DRAWN);
        for (i, entry) in entries.iter().enumerate() {
            let (y, ink) = (i as f64, entry.ink());
            if let Some([low, high]) = entry.share.ci95 {
                area.draw(&path([(low, y), (high, y)], ink, 2)).expect(super::DRAWN);
            }
            let style = match ink {
                Ink::Neutral => ink.color().stroke_width(2),
                ink => ink.color().filled(),
            };
            area.draw(&Circle::new((entry.share.ratio, y), 4, style)).expect(super::DRAWN);
            let (_, row) = plot.backend_coord(&(1.0, y));
            let style = font(Ink::Text).pos(Pos::new(HPos::Right, VPos::Center));
            let number =
                Text::new(digits(entry.share.ratio), (super::WIDTH as i32 - 3, row), style);
            whole.draw(&number).expect(super::DRAWN);
        }
    })
}
