//! What regions cost in bytes, found by making the objects and asking the region.

use allod_lab::table::Table;
use allod_region::control::BLOCK_BYTES;
use allod_region::{Region, Value, region_of};
use std::fmt::Write;

/// Objects of the inline-hit measurement.
const ALLOCATIONS: usize = 24;

/// The tables of bytes and of the inline buffer's hit rate.
pub(super) fn facts() -> String {
    let mut text = format!("{}\n", bytes());
    for (name, make) in kinds() {
        let r = Region::new();
        let objects = (0..ALLOCATIONS).map(|i| make(&r, i));
        let hits = objects.filter(|v| in_block(&r, *v)).count();
        let _ = writeln!(
            text,
            "inline-hit-rate, {ALLOCATIONS} of {name}: {hits} inline ({} %)",
            100 * hits / ALLOCATIONS
        );
    }
    text
}

type Make = for<'r> fn(&'r Region, usize) -> Value<'r>;

fn kinds() -> [(&'static str, Make); 3] {
    [
        ("int", |r, i| r.boxed_int(i as i64)),
        ("pair", |r, i| r.pair(Value::int(i as i64), Value::NIL)),
        ("int, float and pair in turn", |r, i| match i % 3 {
            0 => r.boxed_int(i as i64),
            1 => r.float(i as f64),
            _ => r.pair(Value::int(i as i64), Value::NIL),
        }),
    ]
}

fn in_block(r: &Region, v: Value<'_>) -> bool {
    let control = r.control();
    v.raw().pointer().is_some_and(|p| {
        // SAFETY: the value is alive.
        let home = unsafe { region_of(p.cast()) };
        home == control && (p as usize).wrapping_sub(control as usize) < BLOCK_BYTES
    })
}

/// Bytes that `make` takes in a region.
fn cost(make: impl for<'r> Fn(&'r Region) -> Value<'r>) -> usize {
    let r = Region::new();
    make(&r);
    r.accounting().live
}

fn bytes() -> Table {
    let mut table = Table::new(["bytes", "here", "published"]);
    let tenth = |i: usize| (Value::int(i as i64), Value::TRUE);
    let rows: [(&str, usize, &str); 9] = [
        ("int of 61 bits, bool, char, nil", cost(|r| r.int(5)), "40"),
        ("int of 64 bits", cost(|r| r.int(i64::MAX)), "40"),
        ("float", cost(|r| r.float(1.5)), "40"),
        ("pair of immediates", cost(|r| r.pair(Value::NIL, Value::NIL)), "40, and 40 for each int"),
        ("symbol that exists already", cost(|_| Value::symbol("lambda")), "40 and its name"),
        ("string of 6", cost(|r| r.string("lambda")), "40 and its text"),
        ("array of 10", cost(|r| r.array(10, Value::NIL)), "40 and its data"),
        ("dict of 10", cost(|r| r.dict_from((0..10).map(tenth))), "40 and its table"),
        ("empty region", BLOCK_BYTES, "576, and 1824 for its type table"),
    ];
    for (name, here, published) in rows {
        table.row([name.to_owned(), here.to_string(), published.to_owned()]);
    }
    table
}
