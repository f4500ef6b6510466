//! Plain tables for the terminal, and numbers as people read them.

use std::fmt;

/// A table whose first column is left-aligned and whose others are right-aligned.
#[derive(Clone, Debug, Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with one header line.
    pub fn new<S: Into<String>>(header: impl IntoIterator<Item = S>) -> Self {
        Self { rows: vec![header.into_iter().map(Into::into).collect()] }
    }

    /// Adds a line; missing cells stay empty.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl Table {
    /// The lines, the header first.
    pub fn rows(&self) -> &[Vec<String>] {
        &self.rows
    }

    /// The table as Markdown.
    ///
    /// ```
    /// let mut table = allod_lab::table::Table::new(["", "a|b"]);
    /// table.row(["x", "1.00"]);
    /// assert_eq!(table.markdown(), "| | a\\|b |\n| --- | ---: |\n| x | 1.00 |\n");
    /// ```
    pub fn markdown(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cell = |text: &str| match text.trim() {
            "" => " ".to_owned(),
            text => format!(" {} ", text.replace('|', "\\|").replace('<', "\\<")),
        };
        let line = |row: &Vec<String>| {
            let cells = (0..columns).map(|c| cell(row.get(c).map_or("", String::as_str)));
            format!("|{}|\n", cells.collect::<Vec<_>>().join("|"))
        };
        let mut lines = self.rows.iter().map(line);
        let head = lines.next().unwrap_or_default();
        let rule = format!("| --- |{}\n", " ---: |".repeat(columns.saturating_sub(1)));
        format!("{head}{rule}{}", lines.collect::<String>())
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns)
            .map(|c| self.rows.iter().filter_map(|r| r.get(c)).map(|s| s.chars().count()).max())
            .map(Option::unwrap_or_default)
            .collect();
        for (i, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (c, width) in widths.iter().enumerate() {
                let cell = row.get(c).map_or("", String::as_str);
                let space = " ".repeat(width - cell.chars().count());
                match c {
                    0 => line.extend([cell, &space]),
                    _ => line.extend(["  ", &space, cell]),
                }
            }
            writeln!(f, "{}", line.trim_end())?;
            if i == 0 {
                writeln!(f, "{}", "─".repeat(line.chars().count()))?;
            }
        }
        Ok(())
    }
}

/// Nanoseconds with three significant digits or so, in a unit that fits.
///
/// ```
/// use allod_lab::table::nanoseconds;
/// assert_eq!(nanoseconds(1.567), "1.57");
/// assert_eq!(nanoseconds(41_537.0), "41.5 µs");
/// assert_eq!(nanoseconds(3_900_000.0), "3.90 ms");
/// ```
pub fn nanoseconds(ns: f64) -> String {
    match ns {
        _ if ns >= 1e6 => format!("{} ms", digits(ns / 1e6)),
        _ if ns >= 1e4 => format!("{} µs", digits(ns / 1e3)),
        _ => digits(ns),
    }
}

/// A number with three significant digits or so.
pub fn digits(x: f64) -> String {
    match x.abs() {
        a if a >= 100.0 => format!("{x:.0}"),
        a if a >= 10.0 => format!("{x:.1}"),
        _ => format!("{x:.2}"),
    }
}

/// How many there are of something.
///
/// ```
/// use allod_lab::table::counted;
/// assert_eq!((counted(1, "round"), counted(6, "round")), ("1 round".into(), "6 rounds".into()));
/// ```
pub fn counted(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// KiB as MiB.
pub fn mebibytes(kib: f64) -> String {
    digits(kib / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut t = Table::new(["name", "µs"]);
        t.row(["a", "1.50"]);
        t.row(["longer", "10.2"]);
        assert_eq!(t.to_string(), "name      µs\n────────────\na       1.50\nlonger  10.2\n");
    }
}
