//! What `allod trace` prints.

use crate::table::{Table, counted, digits};
use allod_trace::census::{Band, Census, Crossing, Total};

/// The most rows of a table whose length depends on the program.
const ROWS: usize = 12;

/// A census as a page of tables.
pub fn page(census: &Census) -> String {
    let parts = [
        heading(census),
        calls(census),
        sparkline_of(census),
        sizes(census),
        lifetimes(census),
        threads(census),
        crossings(census),
        realloc(census),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Bytes in a unit that fits.
///
/// ```
/// use allod_lab::trace_tables::bytes;
/// assert_eq!(bytes(1000), "1000 B");
/// assert_eq!(bytes(3 << 20), "3.00 MiB");
/// ```
pub fn bytes(n: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = n as f64;
    let mut name = "B";
    for unit in units {
        if value < 1024.0 {
            break;
        }
        (value, name) = (value / 1024.0, unit);
    }
    if n < 1024 { format!("{n} B") } else { format!("{} {name}", digits(value)) }
}

/// Numbers as a line of bars, scaled to the greatest of them or to `top`.
///
/// ```
/// assert_eq!(allod_lab::trace_tables::sparkline(&[0, 4, 8], 8), "▁▅█");
/// ```
pub fn sparkline(values: &[u64], top: u64) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let top = values.iter().copied().max().unwrap_or(0).max(top).max(1) as f64;
    let bar = |&value: &u64| BARS[(value as f64 / top * 7.0).round() as usize];
    values.iter().map(bar).collect()
}

fn heading(census: &Census) -> String {
    let mut text = format!("{}\n", census.command.join(" "));
    let seconds = census.duration_ns as f64 / 1e9;
    text += &format!(
        "{} of {} in {} s; {} at the peak in {}; {} never freed\n",
        counted(census.events as usize, "call"),
        counted(census.threads.len(), "thread"),
        digits(seconds),
        bytes(census.peak.bytes),
        counted(census.peak.blocks as usize, "block"),
        bytes(census.left.bytes),
    );
    if !census.complete {
        text +=
            "The trace has no end: the program was killed, called _exit, or is still running.\n";
    }
    if census.missed > 0 {
        text += &format!(
            "{} missing, made while the recorder was running, for example by a signal handler.\n",
            counted(census.missed as usize, "call")
        );
    }
    text
}

fn calls(census: &Census) -> String {
    let calls = &census.calls;
    let rows = [
        ("malloc", calls.malloc),
        ("calloc", calls.calloc),
        ("aligned", calls.aligned),
        ("realloc", calls.realloc),
        ("free", calls.free),
        ("free of a null pointer", calls.free_null),
        ("free of an unknown block", calls.free_unknown),
        ("failed", calls.failed),
        ("blocks whose free was not seen", calls.lost),
    ];
    let mut table = Table::new(["calls", "times"]);
    for (name, times) in rows.into_iter().filter(|(_, times)| *times > 0) {
        table.row([name.to_owned(), times.to_string()]);
    }
    table.to_string()
}

fn sparkline_of(census: &Census) -> String {
    format!(
        "Live memory from the first call to the last, up to {}:\n{}\n",
        bytes(census.peak.bytes),
        sparkline(&census.curve, census.peak.bytes)
    )
}

fn banded(title: &str, bands: &[Band], name: impl Fn(&Band) -> String) -> String {
    let all: u64 = bands.iter().map(|band| band.total.blocks).sum();
    let mut table = Table::new([title, "blocks", "share", "bytes", ""]);
    for band in bands {
        let [blocks, share, bytes] = shares(&band.total, all);
        let bar = "▪".repeat((band.total.blocks * 20 / all.max(1)) as usize);
        table.row([name(band), blocks, share, bytes, format!("{bar:20}")]);
    }
    table.to_string()
}

fn shares(total: &Total, all: u64) -> [String; 3] {
    let share = 100.0 * total.blocks as f64 / all.max(1) as f64;
    [total.blocks.to_string(), format!("{} %", digits(share)), bytes(total.bytes)]
}

fn sizes(census: &Census) -> String {
    banded("bytes asked for", &census.sizes, |band| format!("{} to {}", band.from, band.to))
}

fn lifetimes(census: &Census) -> String {
    let mut text =
        banded("calls from allocation to free", &census.lifetimes, |band| match band.to {
            u64::MAX => format!("{} and more", band.from),
            to => format!("{} to {to}", band.from),
        });
    if census.left.blocks > 0 {
        text += &format!("Never freed: {} blocks.\n", census.left.blocks);
    }
    text
}

fn threads(census: &Census) -> String {
    if census.threads.len() < 2 {
        return String::new();
    }
    let mut rows = census.threads.clone();
    rows.sort_by_key(|t| std::cmp::Reverse(t.allocated.blocks + t.freed.blocks));
    let mut table = Table::new(["thread", "allocated", "bytes", "freed", "bytes", "realloc"]);
    for t in rows.iter().take(ROWS) {
        table.row([
            t.thread.to_string(),
            t.allocated.blocks.to_string(),
            bytes(t.allocated.bytes),
            t.freed.blocks.to_string(),
            bytes(t.freed.bytes),
            t.reallocs.to_string(),
        ]);
    }
    format!("{table}{}", and_more(rows.len(), "threads"))
}

fn crossings(census: &Census) -> String {
    if census.threads.len() < 2 {
        return String::new();
    }
    let mut rows: Vec<&Crossing> = census.crossings.iter().collect();
    rows.sort_by_key(|c| std::cmp::Reverse(c.total.blocks));
    let freed: u64 = rows.iter().map(|c| c.total.blocks).sum();
    let mut table = Table::new(["allocated by", "freed by", "blocks", "share", "bytes"]);
    for c in rows.iter().take(ROWS) {
        let [blocks, share, bytes] = shares(&c.total, freed);
        let by =
            if c.allocated_by == c.freed_by { "itself".into() } else { c.freed_by.to_string() };
        table.row([c.allocated_by.to_string(), by, blocks, share, bytes]);
    }
    let share = 100.0 * census.crossed() as f64 / freed.max(1) as f64;
    format!(
        "{table}{}{} % of the freed blocks came from another thread.\n",
        and_more(rows.len(), "pairs"),
        digits(share)
    )
}

fn and_more(all: usize, what: &str) -> String {
    if all > ROWS { format!("and {} {what} more\n", all - ROWS) } else { String::new() }
}

fn realloc(census: &Census) -> String {
    let r = &census.realloc;
    let all = r.grew + r.shrank + r.other;
    if all == 0 {
        return String::new();
    }
    format!(
        "realloc: {} grew, {} shrank, {} neither; {} moved ({} of contents); up to {} in a row of one block\n",
        r.grew,
        r.shrank,
        r.other,
        r.moved,
        bytes(r.moved_bytes),
        r.longest_row
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use allod_trace::merge::Trace;
    use allod_trace::writer::Writer;
    use allod_trace::{Call, Event, FileHeader};

    fn census(threads: u32) -> Census {
        let mut writer = Writer::new(Vec::new(), &FileHeader::here(1, 1, b"demo\0-x\0")).unwrap();
        for i in 0..u64::from(threads) {
            let address = 16 * (i + 1);
            let born = Event { sequence: 2 * i, call: Call::Malloc { size: 100, address } };
            writer.record(i as u32 + 1, &born, 0).unwrap();
            let freed = Event { sequence: 2 * i + 1, call: Call::Free { address } };
            writer.record((i as u32 + 1) % threads + 1, &freed, 0).unwrap();
        }
        Census::of(&Trace::read(&writer.finish(0).unwrap()[..]).unwrap())
    }

    #[test]
    fn a_program_of_one_thread_has_no_table_of_threads() {
        let text = page(&census(1));
        assert!(text.starts_with("demo -x\n2 calls of 1 thread in"), "{text}");
        assert!(text.contains("65 to 128") && !text.contains("allocated by"), "{text}");
    }

    #[test]
    fn long_tables_are_cut() {
        let text = page(&census(20));
        assert!(text.contains("100 % of the freed blocks came from another thread"), "{text}");
        assert!(text.contains("and 8 threads more") && text.contains("and 8 pairs more"), "{text}");
    }
}
