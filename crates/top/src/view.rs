//! The view: the layout on a terminal of any size.
//!
//! ```text
//!  ┌ title: program, number, resident, in use ──────────────────────────┐
//!  │ what happens per second                                            │
//!  │ memory in use over time                    (where there are 20 rows) │
//!  ├ by layer, and what is free ───────┬ by band ───────────────────────┤   side by side from 76
//!  ├ by heap, as many as there is room for ─────────────────────────────┤   columns on
//!  └ keys ──────────────────────────────────────────────────────────────┘
//! ```

use crate::process::Process;
use crate::sample::{Rates, Sample, band_limit, band_name, count, size};
use crate::text::owner;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::bar;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Sparkline};
use std::collections::VecDeque;

/// The least columns with layers and bands side by side.
const WIDE: u16 = 76;
/// The least rows with memory over time.
const TALL: u16 = 20;
/// Lines of layers and of bands, with their heading.
const LAYER_LINES: u16 = 9;
const BAND_LINES: u16 = 11;
/// The samples kept for memory over time.
pub const HISTORY: usize = 400;

/// The capabilities of a terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Looks {
    /// Whether it may have colours.
    pub colour: bool,
    /// Whether it can show more than ASCII.
    pub unicode: bool,
}

impl Looks {
    /// From the environment: `NO_COLOR`, `TERM`, and the locale's character set.
    pub fn of_environment() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let charset = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(|name| set(name));
        let unicode = charset.is_some_and(|value| {
            let value = value.to_ascii_lowercase();
            value.contains("utf-8") || value.contains("utf8")
        });
        let dumb = set("TERM").is_none_or(|term| term == "dumb");
        Self { colour: set("NO_COLOR").is_none() && !dumb, unicode }
    }
}

/// The state of the view.
#[derive(Debug)]
pub struct View {
    /// Whose memory it is.
    pub process: Process,
    /// The last sample.
    pub sample: Option<Sample>,
    /// The rates before that.
    pub rates: Rates,
    /// KiB in use, the newest first.
    pub history: VecDeque<u64>,
    /// Whether it is paused.
    pub paused: bool,
    /// Seconds since the process last answered.
    pub silent_s: u64,
    /// The first heap shown.
    pub first_heap: usize,
    /// The terminal's capabilities.
    pub looks: Looks,
}

impl View {
    /// A view without samples.
    pub fn new(process: Process, looks: Looks) -> Self {
        Self {
            process,
            sample: None,
            rates: Rates::default(),
            history: VecDeque::new(),
            paused: false,
            silent_s: 0,
            first_heap: 0,
            looks,
        }
    }

    /// Adds a sample.
    pub fn see(&mut self, new: Sample) {
        if let Some(rates) = self.sample.as_ref().and_then(|old| Rates::between(old, &new)) {
            self.rates = rates;
        }
        self.history.push_front(new.used_bytes() >> 10);
        self.history.truncate(HISTORY);
        self.sample = Some(new);
    }

    /// Draws everything that fits.
    pub fn draw(&self, frame: &mut Frame) {
        let all = frame.area();
        let course = if all.height >= TALL { 2 } else { 0 };
        let side_by_side = all.width >= WIDE;
        let middle = if side_by_side { BAND_LINES } else { LAYER_LINES + BAND_LINES };
        let [head, course, middle, heaps, keys] = Layout::vertical([
            Constraint::Length(3),
            Constraint::Length(course),
            Constraint::Max(middle),
            Constraint::Min(0),
            Constraint::Length(1),
        ])
        .areas(all);
        let keys = if all.height >= 6 { keys } else { Rect { height: 0, ..keys } };
        self.lines(frame, keys, vec![self.keys()]);
        let Some(sample) = &self.sample else {
            let words = format!("waiting for process {} …", self.process.number);
            return self.lines(frame, head, vec![self.text(words)]);
        };
        self.lines(
            frame,
            head,
            vec![self.title(sample), self.happenings(), self.given_back(sample)],
        );
        self.draw_course(frame, course);
        let (layers, bands) = if side_by_side {
            let [left, right] =
                Layout::horizontal([Constraint::Length(37), Constraint::Min(0)]).areas(middle);
            (left, right)
        } else {
            let [upper, lower] =
                Layout::vertical([Constraint::Max(LAYER_LINES), Constraint::Min(0)]).areas(middle);
            (upper, lower)
        };
        self.lines(frame, layers, self.layers(sample, layers.width));
        self.lines(frame, bands, self.bands(sample));
        self.lines(frame, heaps, self.heaps(sample));
    }

    fn lines(&self, frame: &mut Frame, area: Rect, lines: Vec<Line<'static>>) {
        frame.render_widget(Paragraph::new(lines), area);
    }

    /// Text with only characters that the terminal can show.
    fn text(&self, text: String) -> Line<'static> {
        let text = match self.looks.unicode {
            true => text,
            false => text.replace('…', "...").replace('·', "|"),
        };
        Line::raw(text)
    }

    fn heading(&self, text: String) -> Line<'static> {
        self.text(text).style(Style::new().add_modifier(Modifier::BOLD))
    }

    fn tinted(&self, text: String, colour: Color) -> Span<'static> {
        let style = if self.looks.colour { Style::new().fg(colour) } else { Style::new() };
        Span::styled(text, style)
    }

    fn title(&self, sample: &Sample) -> Line<'static> {
        let facts = &sample.facts;
        let (resident, peak) = (facts.resident_bytes as f64, facts.peak_resident_bytes as f64);
        let mut text = format!(
            "{} {} · resident {}, peak {} · in use {} · {} threads",
            self.process.name,
            self.process.number,
            size(resident),
            size(peak),
            size(sample.used_bytes() as f64),
            facts.threads,
        );
        if self.paused {
            text = format!("PAUSED · {text}");
        } else if self.silent_s >= 3 {
            text = format!("SILENT FOR {} s · {text}", self.silent_s);
        }
        self.text(text).style(Style::new().add_modifier(Modifier::REVERSED))
    }

    fn happenings(&self) -> Line<'static> {
        let r = &self.rates;
        let taken = match r.allocations {
            Some(n) => format!("{} allocations", count(n)),
            None => format!("{} out of slabs", size(r.filled_bytes)),
        };
        self.text(format!(
            "per second: {taken} · {} refills · {} faults · spans {}{}",
            count(r.refills),
            count(r.faults),
            if r.growth_bytes > 0.0 { "+" } else { "" },
            size(r.growth_bytes),
        ))
    }

    fn given_back(&self, sample: &Sample) -> Line<'static> {
        let t = &sample.counters.totals;
        self.text(format!(
            "given back: {} per second, {} so far in {} calls · spans {}, peak {}",
            size(self.rates.purged_bytes),
            size(t.purged_bytes as f64),
            count(t.purges as f64),
            size(t.span_bytes as f64),
            size(t.peak_span_bytes as f64),
        ))
    }

    fn draw_course(&self, frame: &mut Frame, area: Rect) {
        let data: Vec<u64> = self.history.iter().take(area.width.into()).rev().copied().collect();
        let style = if self.looks.colour { Style::new().fg(Color::Cyan) } else { Style::new() };
        let mut course = Sparkline::default().data(&data).style(style);
        if !self.looks.unicode {
            course = course.bar_set(ASCII_BARS);
        }
        frame.render_widget(course, area);
    }

    fn layers(&self, sample: &Sample, width: u16) -> Vec<Line<'static>> {
        let most = sample.layers().into_iter().chain(sample.free()).map(|(_, n)| n).max();
        let most = most.unwrap_or(0).max(1);
        let room = usize::from(width).saturating_sub(28).min(40);
        let line = |(name, bytes): (&str, u64), colour| {
            let filled = (bytes as f64 / most as f64 * room as f64).round() as usize;
            let sign = if self.looks.unicode { "█" } else { "#" };
            let text = self.text(format!("{name:<15} {:>10} ", size(bytes as f64)));
            let mut spans = text.spans;
            spans.push(self.tinted(sign.repeat(filled), colour));
            Line::from(spans)
        };
        let used = sample.layers().into_iter().map(|layer| line(layer, Color::Green));
        let free = sample.free().into_iter().map(|kind| line(kind, Color::Yellow));
        std::iter::once(self.heading("in use, then free".into())).chain(used).chain(free).collect()
    }

    fn bands(&self, sample: &Sample) -> Vec<Line<'static>> {
        let line = |name: &str, limit: &str, blocks: String, used: u64, cached: u64| {
            let (used, cached) = (size(used as f64), size(cached as f64));
            self.text(format!("{name:<7}{limit:>6}{blocks:>8}{used:>11}{cached:>11}"))
        };
        let heading =
            format!("{:<7}{:>6}{:>8}{:>11}{:>11}", "band", "to", "blocks", "in use", "cached");
        let mut lines = vec![self.heading(heading)];
        for (i, band) in sample.counters.bands.iter().enumerate() {
            let blocks = count(band.used_blocks as f64);
            let (name, limit) = (band_name(i), band_limit(i));
            lines.push(line(&name, limit, blocks, band.used_bytes, band.cached_bytes));
        }
        let large = size(sample.counters.totals.large_bytes as f64);
        lines.push(self.text(format!("{:<7}{:>25}", "large", large)));
        lines
    }

    fn heaps(&self, sample: &Sample) -> Vec<Line<'static>> {
        let count = sample.counters.heap_count;
        let heading = format!(
            "{:<24}{:>11}{:>11}{:>11}",
            format!("heap, of {count}"),
            "in use",
            "cached",
            "free"
        );
        let mut lines = vec![self.heading(heading)];
        for heap in sample.heaps().skip(self.first_heap) {
            let owner: String = owner(&self.process, heap).chars().take(23).collect();
            let (used, cached) = (size(heap.used_bytes as f64), size(heap.cached_bytes as f64));
            let free = size((heap.free_bytes + heap.near_bytes) as f64);
            lines.push(self.text(format!("{owner:<24}{used:>11}{cached:>11}{free:>11}")));
        }
        lines
    }

    fn keys(&self) -> Line<'static> {
        self.text("q quit · space pause · up and down: heaps".into())
    }
}

/// Three heights, in ASCII.
const ASCII_BARS: bar::Set<'static> = bar::Set {
    full: "#",
    seven_eighths: "#",
    three_quarters: "#",
    five_eighths: "=",
    half: "=",
    three_eighths: "-",
    one_quarter: "-",
    one_eighth: ".",
    empty: " ",
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::tests::sample;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    fn shown(view: &View, width: u16, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
        terminal.draw(|frame| view.draw(frame)).unwrap();
        terminal.backend().to_string()
    }

    fn view(looks: Looks) -> View {
        let process =
            Process { number: 4711, own_number: 1, user: 0, name: "a-name-of-15-ch".into() };
        let mut view = View::new(process, looks);
        view.see(sample(1_000_000, 0));
        view.see(sample(2_000_000, 3 << 20));
        view
    }

    const PLAIN: Looks = Looks { colour: false, unicode: false };

    #[test]
    fn eighty_columns_show_layers_bands_and_heaps() {
        let text = shown(&view(Looks { colour: true, unicode: true }), 80, 24);
        for words in [
            "a-name-of-15-ch 4711 · resident 70.0 MiB",
            "in use 54.0 MiB",
            "given back: 3.0 MiB per second, 3.0 MiB so far",
            "heap, large       40.0 MiB █",
            "regions            5.0 MiB",
            "frames             6.0 MiB",
            "kept near",
            "B2      128 B   1.2 k    1.0 MiB        0 B",
            "medium  1 MiB",
            "large                   40.0 MiB",
            "heap, of 2",
            "thread 77",
            "first-class heap 2",
            "q quit",
        ] {
            assert!(text.contains(words), "{words} in\n{text}");
        }
    }

    #[test]
    fn a_terminal_without_unicode_gets_none() {
        let text = shown(&view(PLAIN), 80, 24);
        // The test's own frame around each row is made of quotation marks.
        assert!(text.is_ascii(), "{text}");
        assert!(text.contains("40.0 MiB #"), "{text}");
        let mut empty = view(PLAIN);
        empty.sample = None;
        assert!(shown(&empty, 80, 24).is_ascii());
    }

    #[test]
    fn any_size_shows_what_there_is_room_for() {
        let view = view(Looks { colour: true, unicode: true });
        for (width, height) in [(1, 1), (3, 2), (20, 5), (40, 12), (60, 40), (76, 16), (250, 90)] {
            let text = shown(&view, width, height);
            assert!(
                width < 20 || text.contains("a-name-of-15-ch 471"),
                "{width}×{height}:\n{text}"
            );
        }
        let narrow = shown(&view, 40, 40);
        assert!(
            narrow.contains("regions") && narrow.contains("B2 ") && narrow.contains("thread 77")
        );
        let flat = shown(&view, 80, 14);
        assert!(flat.contains("regions") && flat.contains("q quit"), "{flat}");
    }

    #[test]
    fn a_pause_and_a_silence_are_said_and_heaps_can_be_left_behind() {
        let mut view = view(PLAIN);
        view.paused = true;
        view.first_heap = 1;
        let text = shown(&view, 80, 24);
        assert!(text.contains("PAUSED") && !text.contains("thread 77"), "{text}");
        view.paused = false;
        view.silent_s = 5;
        assert!(shown(&view, 80, 24).contains("SILENT FOR 5 s"));
    }
}
