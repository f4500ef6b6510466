//! Colours by what they mean.

use plotters::style::RGBColor;
use std::fmt::Write;

/// A colour of the charts. The light value is drawn; the style sheet replaces it by a variable, whose value
/// differs if the reader prefers dark pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// Numbers and medians.
    Text,
    /// Labels.
    Muted,
    /// Axes and lines behind the data.
    Grid,
    /// Better, for certain.
    Go,
    /// Worse, for certain.
    NoGo,
    /// Not known, or no difference that matters.
    Neutral,
    /// One of several lines; the colours repeat after the last.
    Line(usize),
}

/// How many colours lines have.
pub const LINES: usize = 8;

/// Names, and the light and the dark value.
const INKS: [(&str, u32, u32); 6] = [
    ("text", 0x1B1F24, 0xE6EDF3),
    ("muted", 0x57606A, 0x9DA7B1),
    ("grid", 0xD8DEE4, 0x343B44),
    ("go", 0x0B62C4, 0x58A6FF),
    ("no-go", 0xC2410C, 0xFB923C),
    ("neutral", 0x6E7781, 0x8B949E),
];

/// Colours that most people can distinguish, including the colour-blind (Okabe and Ito, darker or lighter).
const LINE_INKS: [(u32, u32); LINES] = [
    (0x0072B2, 0x4FA8E0),
    (0xD55E00, 0xFF8A4C),
    (0x00805E, 0x3CCFA0),
    (0xB2528A, 0xE39BC4),
    (0x8A6A00, 0xE3B341),
    (0x2E9BDA, 0x8CD0FF),
    (0x6F3FA0, 0xB68AE0),
    (0x4D4D4D, 0xB3B3B3),
];

impl Ink {
    fn light(self) -> u32 {
        match self {
            Self::Line(i) => LINE_INKS[i % LINES].0,
            named => INKS[named.place()].1,
        }
    }

    fn place(self) -> usize {
        match self {
            Self::Text => 0,
            Self::Muted => 1,
            Self::Grid => 2,
            Self::Go => 3,
            Self::NoGo => 4,
            Self::Neutral | Self::Line(_) => 5,
        }
    }

    pub(super) fn color(self) -> RGBColor {
        let [_, red, green, blue] = self.light().to_be_bytes();
        RGBColor(red, green, blue)
    }
}

/// Variables with the light and the dark values, and the rules that put them into charts.
pub fn style_sheet() -> String {
    let lines = LINE_INKS.iter().enumerate().map(|(i, (l, d))| (format!("line-{i}"), *l, *d));
    let inks: Vec<(String, u32, u32)> =
        INKS.iter().map(|(name, l, d)| ((*name).into(), *l, *d)).chain(lines).collect();
    let mut text = String::from(":root {\n");
    for (name, light, _) in &inks {
        let _ = writeln!(text, "  --{name}: #{light:06X};");
    }
    text += "}\n@media screen and (prefers-color-scheme: dark) {\n  :root {\n";
    for (name, _, dark) in &inks {
        let _ = writeln!(text, "    --{name}: #{dark:06X};");
    }
    text += "  }\n}\n";
    for (name, light, _) in &inks {
        let _ = writeln!(text, ".chart [fill=\"#{light:06X}\"] {{ fill: var(--{name}); }}");
        let _ = writeln!(text, ".chart [stroke=\"#{light:06X}\"] {{ stroke: var(--{name}); }}");
    }
    text
}
