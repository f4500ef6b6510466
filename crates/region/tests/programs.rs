//! Programs on regions: a store of JSON documents and a pipeline of threads. Each prints its memory and
//! must not grow over a million steps.

use allod_region::{Message, Region, Root, Value};
use std::collections::HashMap;
use std::sync::mpsc::sync_channel;
use std::sync::{Mutex, MutexGuard};

/// The tests measure the process's memory, so they run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(|held| held.into_inner())
}

/// Under `validate` each exit traces all documents of the store.
const STEPS: usize = match (cfg!(feature = "validate"), cfg!(debug_assertions)) {
    (true, _) => 2_000,
    (_, true) => 50_000,
    _ => 1_000_000,
};

fn resident_kib() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4
}

/// Runs the steps and checks that the last nine tenths of them took no memory.
fn without_growth(name: &str, mut step: impl FnMut(usize)) {
    (0..STEPS / 10).for_each(&mut step);
    let before = resident_kib();
    (STEPS / 10..STEPS).for_each(&mut step);
    let after = resident_kib();
    println!("{name}: {STEPS} steps, {before} KiB resident after a tenth, {after} KiB at the end");
    // Checked builds keep what is gone for a while, and their runs are too short for that to level off.
    assert!(STEPS < 1_000_000 || after < before + 512, "{name} grew from {before} to {after} KiB");
}

/// A parser of JSON that makes its values in a region.
struct Parser<'t, 'r> {
    text: &'t [u8],
    at: usize,
    region: &'r Region,
}

impl<'r> Parser<'_, 'r> {
    fn peek(&mut self) -> u8 {
        while self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        self.text[self.at]
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.peek() == byte;
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str, v: Value<'static>) -> Value<'r> {
        assert!(self.text[self.at..].starts_with(word.as_bytes()));
        self.at += word.len();
        v
    }

    fn text(&mut self) -> &str {
        assert!(self.eat(b'"'));
        let start = self.at;
        while self.text[self.at] != b'"' {
            self.at += 1;
        }
        self.at += 1;
        std::str::from_utf8(&self.text[start..self.at - 1]).unwrap()
    }

    fn number(&mut self) -> Value<'r> {
        let rest = &self.text[self.at..];
        let n = rest.iter().take_while(|b| b"+-.eE0123456789".contains(b)).count();
        self.at += n;
        let text = std::str::from_utf8(&rest[..n]).unwrap();
        match text.parse() {
            Ok(i) => self.region.int(i),
            Err(_) => self.region.float(text.parse().unwrap()),
        }
    }

    fn value(&mut self) -> Value<'r> {
        match self.peek() {
            b'{' => self.object(),
            b'[' => self.array(),
            b'"' => {
                let r = self.region;
                r.string(self.text())
            }
            b't' => self.word("true", Value::TRUE),
            b'f' => self.word("false", Value::FALSE),
            b'n' => self.word("null", Value::NIL),
            _ => self.number(),
        }
    }

    fn array(&mut self) -> Value<'r> {
        assert!(self.eat(b'['));
        let mut values = Vec::new();
        while !self.eat(b']') {
            values.push(self.value());
            self.eat(b',');
        }
        self.region.array_from(values)
    }

    fn object(&mut self) -> Value<'r> {
        assert!(self.eat(b'{'));
        let d = self.region.dict(4);
        while !self.eat(b'}') {
            // Names recur, so they are symbols.
            let name = Value::symbol(self.text());
            assert!(self.eat(b':'));
            d.set(name, self.value()).unwrap();
            self.eat(b',');
        }
        d
    }
}

/// A document, and the bytes that its region says it takes.
fn parse(text: &str) -> (Root, usize) {
    let region = Region::new();
    let v = Parser { text: text.as_bytes(), at: 0, region: &region }.value();
    let root = region.root(v);
    (root, region.accounting().live)
}

#[test]
fn a_json_store_replaces_documents_without_growing() {
    let _alone = alone();
    let mut store: HashMap<usize, Root> = HashMap::new();
    let mut most = 0;
    without_growth("json store", |i| {
        let text = format!(
            r#"{{"id": {i}, "name": "document {i}", "tags": ["a", "b", {}], "nested": {{"x": -1.5, "ok": true, "none": null}}}}"#,
            i % 7
        );
        let (document, bytes) = parse(&text);
        most = most.max(bytes);
        assert!(bytes <= 400, "document {i} takes {bytes} bytes");
        store.insert(i % 1000, document);
        let found = store[&(i / 2 % 1000)].get();
        let id = found.get(Value::symbol("id")).unwrap().as_int().unwrap() as usize;
        assert_eq!(id % 1000, i / 2 % 1000);
        let nested = found.get(Value::symbol("nested")).unwrap();
        assert_eq!(nested.get(Value::symbol("x")).unwrap().as_float(), Some(-1.5));
    });
    println!("json store: {most} bytes in the largest document's region, by its own account");
    let last = store[&7].get();
    assert!(last.to_string().starts_with("#{id: "), "{last}");
}

#[test]
fn a_pipeline_passes_regions_along_without_growing() {
    let _alone = alone();
    let (to_double, doubler) = sync_channel::<Message>(64);
    let (to_sum, summer) = sync_channel::<Message>(64);
    let (to_main, results) = sync_channel::<i64>(64);
    let doubling = std::thread::spawn(move || {
        for m in doubler {
            let doubled = m.then(|r, list| {
                r.list(list.iter().map(|v| Value::int(2 * v.as_int().unwrap())).collect::<Vec<_>>())
            });
            to_sum.send(doubled).unwrap();
        }
    });
    let summing = std::thread::spawn(move || {
        for m in summer {
            let here = Region::new();
            let list = m.receive(&here);
            to_main.send(list.iter().map(|v| v.as_int().unwrap()).sum()).unwrap();
        }
    });
    without_growth("pipeline", |i| {
        let i = i as i64;
        to_double.send(Message::build(|r| r.list((i..i + 50).map(Value::int)))).unwrap();
        // Ten messages are under way at a time.
        if i >= 10 {
            let j = i - 10;
            assert_eq!(results.recv().unwrap(), 2 * (50 * j + 49 * 25));
        }
    });
    drop(to_double);
    results.iter().count();
    doubling.join().unwrap();
    summing.join().unwrap();
}

#[test]
fn messages_and_frozen_regions_under_stress_keep_their_contents() {
    let _alone = alone();
    let table = allod_region::Frozen::build(|r| {
        r.array_from(
            (0..1000).map(|i| r.pair(Value::int(i), r.string("entry"))).collect::<Vec<_>>(),
        )
    });
    std::thread::scope(|scope| {
        for t in 0..4 {
            let table = table.clone();
            scope.spawn(move || {
                for i in 0..2000usize {
                    let here = Region::new();
                    let mine = table.clone();
                    let tether = mine.tether();
                    drop(mine);
                    let entry = tether.get().at((i * 31 + t) % 1000).unwrap();
                    assert_eq!(entry.cdr().unwrap().as_str(), Some("entry"));
                    let copy = here.bring(tether.get());
                    drop(tether);
                    assert_eq!(
                        copy.at(i % 1000).unwrap().car().unwrap().as_int(),
                        Some(i as i64 % 1000)
                    );
                    let kept = here.keep(&table).unwrap();
                    assert!(here.pair(kept, kept).car().unwrap().same(kept));
                }
            });
        }
    });
}
