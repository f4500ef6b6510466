//! Printing, equality, identity and hashes, at their edges; dictionaries' keys and order.

use allod_region::types::{STRING, SYMBOL};
use allod_region::{Error, Kind, Raw, Region, Value, objects};
use allod_region_derive::Trace;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

fn hash(v: Value<'_>) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one(v)
}

fn equal(a: Value<'_>, b: Value<'_>) -> bool {
    let (there, back) = (a == b, b == a);
    assert_eq!(there, back, "{a} and {b}");
    assert!(!there || hash(a) == hash(b), "{a} and {b} are equal, and their hashes are not");
    there
}

/// On a stack that recursion would overflow.
fn small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(128 * 1024).spawn(work).unwrap().join().unwrap();
}

/// A deep structure: down the first slot, a million levels; down the second, through boxes, arrays,
/// closures and dictionaries, a hundred thousand.
fn deep<'r>(r: &'r Region, kind: usize, last: i64) -> Value<'r> {
    let mut v = r.boxed_int(last);
    for _ in 0..if kind == 0 { 1_000_000 } else { 100_000 } {
        v = match kind {
            0 => r.pair(v, Value::NIL),
            1 => r.pair(Value::NIL, v),
            2 => r.boxed(v),
            3 => r.array_from([v]),
            4 => r.closure(7, &[v]),
            _ => r.dict_from([(Value::int(1), v)]),
        };
    }
    v
}

#[test]
fn a_million_levels_are_printed_compared_and_hashed_without_recursion() {
    for kind in 0..6 {
        small_stack(move || {
            let r = Region::new();
            let (a, b, c) = (deep(&r, kind, 1), deep(&r, kind, 1), deep(&r, kind, 2));
            assert!(a == b && hash(a) == hash(b));
            assert!(a != c, "they differ at the very end");
            let text = a.to_string();
            assert!(text.len() > 100_000, "{}", text.len());
            assert_eq!(text.ends_with("..."), kind == 0, "a million parts are printed");
        });
    }
}

#[test]
fn a_tree_of_a_million_leaves_is_compared_and_printed() {
    small_stack(|| {
        let r = Region::new();
        let leaf = |i: usize| r.boxed_int(i as i64);
        let (a, b) = (r.tree(20, leaf), r.tree(20, leaf));
        assert!(equal(a, b));
        assert!(!equal(a, r.tree(20, |i| Value::int(if i == 1_048_575 { -1 } else { i as i64 }))));
        assert!(a.to_string().starts_with("((((((((((((((((((((0 . 1) 2 . 3)"));
    });
}

#[test]
fn shared_structure_is_compared_once_however_many_ways_lead_to_it() {
    let r = Region::new();
    let ladder = |last: i64| {
        let mut v = r.boxed_int(last);
        (0..10_000).for_each(|_| v = r.pair(v, v));
        v
    };
    assert!(equal(ladder(1), ladder(1)));
    assert!(!equal(ladder(1), ladder(2)));
    assert!(ladder(1).to_string().len() < 20_000_000, "printing 2^10000 parts ends");
}

#[test]
fn integers_are_equal_whether_immediate_or_boxed() {
    let r = Region::new();
    let (least, most) = (-(1i64 << 60), (1i64 << 60) - 1);
    for i in [0, 1, -1, least, most, least - 1, most + 1, i64::MIN, i64::MAX] {
        assert!(equal(r.int(i), r.boxed_int(i)));
        assert_eq!((r.int(i).as_int(), r.int(i).kind()), (Some(i), Kind::Int));
        assert_eq!(r.int(i).raw().pointer().is_none(), (least..=most).contains(&i));
        assert_eq!(r.int(i).to_string(), i.to_string());
        let d = r.dict_from([(r.boxed_int(i), Value::TRUE)]);
        assert!(d.contains(r.int(i)) && d.contains(r.boxed_int(i)));
        assert!(!equal(r.int(i), r.int(i.wrapping_add(1))));
    }
    assert_eq!(Raw::small(most + 1), None);
    assert!(!equal(r.int(1), r.float(1.0)), "an integer is no floating-point number");
}

#[test]
fn floats_are_compared_as_numbers_and_found_as_keys_by_their_bits() {
    let r = Region::new();
    let nan = r.float(f64::NAN);
    assert!(equal(r.float(0.0), r.float(-0.0)));
    assert!(nan == nan && nan != r.float(f64::NAN));
    assert_eq!(r.list([r.float(1e300), r.float(-0.0), nan]).to_string(), "(1e300 -0.0 NaN)");
    let d = r.dict_from([
        (r.float(0.0), Value::int(1)),
        (r.float(-0.0), Value::int(2)),
        (nan, Value::int(3)),
    ]);
    assert_eq!(d.len(), Some(3));
    assert_eq!(d.get(r.float(-0.0)).unwrap().as_int(), Some(2));
    assert_eq!(d.get(r.float(f64::NAN)).unwrap().as_int(), Some(3));
}

#[test]
fn text_of_all_the_world_keeps_its_bytes() {
    let r = Region::new();
    for text in ["", "a", "\0", "ä", "日本語", "👩‍🚀 \u{10FFFF}", "seven77", "eight888", "nine99999"]
    {
        let v = r.string(text);
        assert_eq!((v.as_str(), v.as_bytes(), v.as_symbol()), (Some(text), None, None));
        assert!(equal(v, r.string(text)) && !equal(v, r.bytes(text.as_bytes())));
        assert_eq!(v.to_string(), format!("{text:?}"));
        let symbol = Value::symbol(text);
        assert!(symbol.same(Value::symbol(text)) && !equal(symbol, v));
        assert_eq!((symbol.as_symbol(), symbol.to_string()), (Some(text), text.to_string()));
        let own = r.uninterned_symbol(text);
        assert!(!equal(own, symbol) && own.as_symbol() == Some(text));
    }
    for c in ['\0', 'x', 'é', '\u{D7FF}', '\u{10FFFF}'] {
        assert_eq!((Value::char(c).as_char(), Value::char(c).kind()), (Some(c), Kind::Char));
    }
    let long = "a long name ".repeat(10_000);
    assert!(Value::symbol(&long).same(Value::symbol(&long)));
}

#[test]
fn what_contains_itself_prints_compares_and_hashes() {
    let r = Region::new();
    let own = |n: usize| {
        let a = r.array(n, Value::NIL);
        (0..n).for_each(|i| _ = a.set_at(i, a).unwrap());
        a
    };
    assert_eq!(own(2).to_string(), "#[... ...]");
    assert!(equal(own(2), own(2)) && !equal(own(2), own(3)));
    let dict = || {
        let d = r.dict(0);
        d.set(Value::symbol("self"), d).unwrap();
        d.set(Value::int(1), r.array_from([d])).unwrap();
        d
    };
    assert_eq!(dict().to_string(), "#{self: ..., 1: #[...]}");
    assert!(equal(dict(), dict()));
    let cell = r.boxed(Value::NIL);
    cell.set_box(r.closure(0, &[cell])).unwrap();
    assert_eq!(cell.to_string(), "#<box #<closure ...>>");
    // Infinite lists that repeat after two and after three elements are the same infinite list.
    let ring = |n: usize| {
        let nodes: Vec<_> = (0..n).map(|i| r.pair(Value::int(i as i64 % 2), Value::NIL)).collect();
        (0..n).for_each(|i| _ = nodes[i].set_cdr(nodes[(i + 1) % n]).unwrap());
        nodes[0]
    };
    assert!(equal(ring(2), ring(4)) && !equal(ring(2), ring(3)));
    assert_eq!(ring(2).to_string(), "(0 1 . ...)");
}

#[test]
fn printing_is_in_the_manner_of_lisp() {
    let r = Region::new();
    let list = r.list([Value::int(1), r.pair(Value::TRUE, Value::char('x')), Value::NIL]);
    assert_eq!(list.to_string(), "(1 (true . 'x') nil)");
    assert_eq!(r.bytes(&[1, 255]).to_string(), "#bytes[1, 255]");
    assert_eq!(r.array(0, Value::NIL).to_string(), "#[]");
    assert_eq!(r.dict(0).to_string(), "#{}");
    assert_eq!(format!("{:?}", r.string("quote \" it")), r#""quote \" it""#);
    let text = r.string("shared");
    assert_eq!(r.list([text, text]).to_string(), r#"("shared" "shared")"#);
}

/// Text as C may make it, which promises UTF-8 but is not held to it.
fn unchecked<'r>(r: &'r Region, id: u32, text: &[u8]) -> Value<'r> {
    // SAFETY: an object of the type with so many bytes; only printed, compared and hashed.
    unsafe {
        let v = objects::object(r.control(), id, text.len());
        let bytes = objects::byte_slice(v).unwrap();
        bytes.as_ptr().cast_mut().copy_from_nonoverlapping(text.as_ptr(), text.len());
        Value::from_raw(v)
    }
}

#[test]
fn text_that_is_not_utf8_is_printed_with_its_bad_bytes_escaped() {
    let r = Region::new();
    for (bytes, printed) in [
        (&b"\xFF"[..], r"\xFF"),
        (b"cut \xE6\x97", r"cut \xE6\x97"),
        (b"\xC3\xA9 and \xC3", r"é and \xC3"),
        (b"\xF0\x9F\x91 between \x80\x80", r"\xF0\x9F\x91 between \x80\x80"),
        (b"surrogate \xED\xA0\x80", r"surrogate \xED\xA0\x80"),
    ] {
        let (text, name) = (unchecked(&r, STRING, bytes), unchecked(&r, SYMBOL, bytes));
        assert_eq!(text.to_string(), format!("\"{printed}\""));
        assert_eq!(name.to_string(), printed);
        assert_eq!(r.list([text, name]).to_string(), format!("(\"{printed}\" {printed})"));
        assert!(equal(text, unchecked(&r, STRING, bytes)));
    }
    let quoted = unchecked(&r, STRING, b"it's \"\n\xFF\t\\\"");
    assert_eq!(quoted.to_string(), r#""it's \"\n\xFF\t\\\"""#);
}

#[test]
fn dictionaries_are_equal_whatever_their_order() {
    let r = Region::new();
    let entries = |n: i64| (0..n).map(|i| (r.string(&i.to_string()), Value::int(i)));
    let (a, b) = (r.dict_from(entries(100)), r.dict(0));
    entries(100).collect::<Vec<_>>().into_iter().rev().for_each(|(k, v)| b.set(k, v).unwrap());
    assert!(equal(a, b));
    assert_ne!(a.to_string(), b.to_string());
    b.set(r.string("7"), Value::NIL).unwrap();
    assert!(!equal(a, b));
}

#[test]
fn a_key_keeps_its_place_until_it_is_removed() {
    let r = Region::new();
    let d = r.dict(0);
    for k in [3, 1, 2] {
        d.set(Value::int(k), Value::int(0)).unwrap();
    }
    d.set(Value::int(3), Value::int(9)).unwrap();
    assert_eq!(d.to_string(), "#{3: 9, 1: 0, 2: 0}");
    d.remove(Value::int(3)).unwrap();
    d.set(Value::int(3), Value::int(4)).unwrap();
    assert_eq!(d.to_string(), "#{1: 0, 2: 0, 3: 4}");
}

#[test]
fn entries_that_come_and_go_take_no_more_memory() {
    for live in [1, 5, 100] {
        let r = Region::new();
        let d = r.dict(0);
        let turn = |i: i64| {
            d.set(Value::int(i), Value::int(-i)).unwrap();
            d.remove(Value::int(i - live)).unwrap();
        };
        (0..1000).for_each(turn);
        let before = r.accounting().live;
        (1000..1_000_000).for_each(turn);
        assert_eq!(r.accounting().live, before);
        assert_eq!(d.len(), Some(live as usize));
        assert!(d.entries().map(|e| e.0.as_int().unwrap()).eq(1_000_000 - live..1_000_000));
    }
}

#[test]
fn what_cannot_be_a_key_is_refused_and_not_found() {
    let r = Region::new();
    let d = r.dict(0);
    for bad in [d, r.pair(d, d), r.boxed(d), r.array(1, d), r.closure(0, &[])] {
        assert_eq!(d.set(bad, Value::NIL), Err(Error::NotAKey));
        assert_eq!((d.contains(bad), d.remove(bad).unwrap()), (false, None));
        assert_eq!(r.try_dict_from([(bad, bad)]).unwrap_err(), Error::NotAKey);
    }
    assert_eq!(d.len(), Some(0));
    assert_eq!(Value::int(1).set(Value::int(1), Value::NIL), Err(Error::WrongType));
}

/// Integers that collide in the low bits, in the high bits, and under multiplication by a known constant:
/// what an attacker who knows the source would send. Under keys drawn at random all cost the same.
#[test]
fn chosen_keys_cost_no_more_than_others() {
    let time = |key: &dyn Fn(i64) -> i64| {
        (0..3)
            .map(|_| {
                let r = Region::new();
                let d = r.dict(0);
                let start = std::time::Instant::now();
                for i in 0..100_000 {
                    d.set(r.boxed_int(key(i)), Value::NIL).unwrap();
                }
                assert_eq!(d.len(), Some(100_000));
                start.elapsed()
            })
            .min()
            .unwrap()
    };
    let usual = time(&|i| i);
    for chosen in [&(|i| i << 20) as &dyn Fn(i64) -> i64, &|i| i << 40, &|i| {
        i.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64)
    }] {
        // Collisions in earnest would make it thousands of times.
        assert!(time(chosen) < usual * 50);
    }
}

#[test]
fn hashes_are_keyed_anew_in_every_process() {
    const CHILD: &str = "TEST_PRINT_HASH";
    if std::env::var_os(CHILD).is_some() {
        println!("hash {:x} {:x}", allod_region::hash::word(1), allod_region::hash::text(b"key"));
        return;
    }
    let run = || {
        let me = std::env::current_exe().unwrap();
        let name = "hashes_are_keyed_anew_in_every_process";
        let mut child = std::process::Command::new(me);
        let out = child.args([name, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
        let out = String::from_utf8(out.stdout).unwrap();
        out.lines().find_map(|l| l.split_once("hash ")).unwrap().1.to_string()
    };
    assert_ne!(run(), run());
}

#[derive(Trace)]
struct Padded {
    small: u8,
    large: u64,
}

#[derive(Trace)]
struct Odd(u8, u8, u8);

#[derive(Trace)]
#[repr(align(64))]
struct Apart(u64);

/// A struct of each kind, in a region whose memory was full of `byte`, made when the stack was too.
#[inline(never)]
fn with_gaps(r: &Region, byte: u8) -> [Value<'_>; 3] {
    std::hint::black_box(&mut [byte; 1024]);
    let (small, large) = std::hint::black_box((1, 2));
    [
        r.alloc(Padded { small, large }).value(),
        r.alloc(Odd(small, small, small)).value(),
        r.alloc(Apart(large)).value(),
    ]
}

#[test]
fn structs_are_equal_whatever_was_in_their_padding() {
    let regions = [0x55u8, 0xAA].map(|byte| {
        let r = Region::new();
        r.memory(512, 8).iter_mut().for_each(|at| _ = at.write(byte));
        drop(r);
        (Region::new(), byte)
    });
    let [a, b] = [0, 1].map(|i| with_gaps(&regions[i].0, regions[i].1));
    for (a, b) in a.into_iter().zip(b) {
        assert!(equal(a, b), "{a} and {b}");
    }
    let (padded, odd) = (a[0].get_as::<Padded>().unwrap(), a[1].get_as::<Odd>().unwrap());
    let apart = a[2].get_as::<Apart>().unwrap();
    assert_eq!((padded.small, padded.large, odd.0, odd.1, odd.2, apart.0), (1, 2, 1, 1, 1, 2));
}

#[test]
fn the_first_word_tells_pairs_from_objects_and_from_what_was_moved() {
    use allod_region::value::{Header, forwarded, forwarding, is_header, is_immediate};
    use allod_region::{objects, types};
    let r = Region::new();
    let (pair, float) = (r.pair(Value::NIL, Value::TRUE), r.float(1.0));
    let immediates = [Value::NIL, Value::TRUE, Value::char('x'), Value::int(-1), Value::int(7)];
    for v in immediates {
        assert!(is_immediate(v.raw().0) && v.raw().pointer().is_none());
    }
    for v in immediates.into_iter().chain([pair, float, Value::symbol("s")]) {
        assert!(!is_header(v.raw().0) && forwarded(v.raw().0).is_none());
    }
    let (p, f) = (pair.raw().as_pair().unwrap(), float.raw().headed().unwrap());
    assert_eq!((pair.raw().headed(), float.raw().as_pair()), (None, None));
    assert_eq!((pair.raw(), pair.raw().pointer()), (Raw::pair(p), Some(p)));
    // SAFETY: both are alive, and a pair has two words.
    unsafe {
        assert_eq!([*p, *p.add(1)], [Raw::NIL.0, Raw::TRUE.0]);
        assert!(is_header(*f) && !is_immediate(*f) && forwarded(*f).is_none());
        assert_eq!((pair.raw().type_id(), float.raw().type_id()), (types::PAIR, types::FLOAT));
        let empty = objects::object(r.control(), types::PAIR, 0);
        assert!(empty.is_pair() && *empty.as_pair().unwrap() == 0);
    }
    for word in [forwarding(p), forwarding(f)] {
        assert!(!is_header(word) && !is_immediate(word));
    }
    assert_eq!(forwarded(forwarding(p)), Some(p as u64));
    let last = Header::with_len(types::MOST - 1, (1 << 48) - 1);
    assert!(is_header(last.0) && !is_immediate(last.0));
    assert_eq!((last.type_id(), last.len()), (types::MOST - 1, (1 << 48) - 1));
    assert_eq!(r.accounting().live, 16 + 16 + 16);
}
