//! Charts as SVG, drawn by plotters.
//!
//! Each is as wide as a phone and is never scaled down, so that its labels stay readable; a page puts as many
//! side by side as fit. Colours are [`Ink`]s, for which the page's style sheet has a light and a dark value.

mod axis;
mod forest;
mod ink;
mod lines;
mod strips;
#[cfg(test)]
mod tests;

pub use axis::{Axis, Scale};
pub use forest::{Entry, forest};
pub use ink::{Ink, style_sheet};
pub use lines::{Line, Style, lines};
pub use strips::{Strip, strips};

use plotters::chart::{ChartBuilder, ChartContext};
use plotters::coord::Shift;
use plotters::coord::cartesian::Cartesian2d;
use plotters::drawing::DrawingArea;
use plotters::element::{PathElement, Text};
use plotters::prelude::{IntoDrawingArea, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, IntoFont, TextStyle};

/// The width of every chart, in its own pixels.
pub const WIDTH: u32 = 340;
/// plotters divides font sizes by this.
const FONT_UNIT: f64 = 1.24;
const FONT: f64 = 11.0;
/// The most width of a name beside an axis.
const WIDEST: f64 = 140.0;
const DRAWN: &str = "text in memory takes whatever is drawn";

/// All of a chart, in pixels.
type Whole<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Plot<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<Axis, Axis>>;

/// What surrounds the data.
struct Surroundings<'a> {
    /// What the chart shows, for screen readers.
    label: &'a str,
    height: u32,
    x: Axis,
    y: Axis,
    /// The titles of the axes; that of the y axis is above it.
    names: [&'a str; 2],
    /// Room for the labels of the y axis.
    left: u32,
    /// Room for numbers on the right.
    right: u32,
    /// Whether there are lines across at the labels of the y axis.
    lines_across: bool,
}

/// Draws a chart: its axes, then whatever `paint` draws.
fn draw(around: Surroundings, paint: impl FnOnce(&mut Plot, &Whole)) -> String {
    let mut svg = String::new();
    // It is centred below the data, and may extend as far to either side as there is room on the right.
    let widest = f64::from(WIDTH - around.left + around.right);
    let above = if around.names[1].is_empty() { 6 } else { 20 };
    {
        let root = SVGBackend::with_string(&mut svg, (WIDTH, around.height)).into_drawing_area();
        let mut plot = ChartBuilder::on(&root)
            .margin_top(above)
            .margin_right(around.right)
            .x_label_area_size(if around.names[0].is_empty() { 22 } else { 36 })
            .y_label_area_size(around.left)
            .build_cartesian_2d(around.x, around.y)
            .expect(DRAWN);
        let mut mesh = plot.configure_mesh();
        mesh.max_light_lines(0)
            .bold_line_style(Ink::Grid.color().stroke_width(1))
            .axis_style(Ink::Grid.color().stroke_width(1))
            .set_all_tick_mark_size(3)
            .label_style(font(Ink::Muted))
            .axis_desc_style(font(Ink::Muted))
            .x_desc(cut(around.names[0], widest));
        if !around.lines_across {
            mesh.disable_y_mesh();
        }
        mesh.draw().expect(DRAWN);
        if !around.names[1].is_empty() {
            let style = font(Ink::Muted).pos(Pos::new(HPos::Left, VPos::Top));
            root.draw(&Text::new(around.names[1], (2, 2), style)).expect(DRAWN);
        }
        paint(&mut plot, &root);
        root.present().expect(DRAWN);
    }
    let (_, inside) = svg.split_once('>').expect("plotters begins with the tag of the whole");
    let (width, height, label) = (WIDTH, around.height, escaped(around.label));
    format!(
        "<svg class=\"chart\" viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\">{inside}"
    )
}

fn escaped(text: &str) -> String {
    maud::html!((text)).into_string()
}

fn font(ink: Ink) -> TextStyle<'static> {
    ("sans-serif", FONT * FONT_UNIT).into_font().color(&ink.color())
}

/// A line through points.
fn path(points: impl Into<Vec<(f64, f64)>>, ink: Ink, width: u32) -> PathElement<(f64, f64)> {
    PathElement::new(points, ink.color().stroke_width(width))
}

/// A name that fits beside an axis: a long one loses its middle.
fn fitting(name: &str) -> String {
    cut(name, WIDEST)
}

/// A text that is no wider than it may be: a wider one loses its middle.
fn cut(name: &str, widest: f64) -> String {
    let mut head: Vec<char> = name.chars().collect();
    if width(name) <= widest {
        return name.to_owned();
    }
    let mut tail = head.split_off(head.len().div_ceil(2));
    loop {
        let shorter = format!("{}\u{2026}{}", text(&head), text(&tail));
        if width(&shorter) <= widest {
            return shorter;
        }
        match head.len() > tail.len() {
            true => drop(head.pop()),
            false => drop(tail.remove(0)),
        }
    }
}

fn text(characters: &[char]) -> String {
    characters.iter().collect()
}

/// Room for the longest of some labels, and for the gap to the axis.
fn room<'a>(labels: impl IntoIterator<Item = &'a str>) -> u32 {
    labels.into_iter().map(width).fold(0.0, f64::max) as u32 + 16
}

/// The approximate width of a text, in a wide font.
fn width(text: &str) -> f64 {
    let of = |c: char| match c {
        'i' | 'j' | 'l' | 'f' | 't' | 'r' | '.' | ',' | ':' | '\'' | '|' | ' ' | '-' | '('
        | ')' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
        'A'..='Z' | '&' | '<' | '>' | '+' | '=' | '\u{2026}' => 0.82,
        c if c.is_ascii() => 0.64,
        _ => 1.05,
    };
    text.chars().map(of).sum::<f64>() * FONT
}
