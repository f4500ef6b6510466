//! Copies and moves of anything: lists up and down with ways in at any node, trees, large and aligned
//! objects, sharing and cycles, several roots, several regions. The result has the same shape word for
//! word, and what was copied is afterwards as it was, byte by byte.

use allod_region::types::{self, Type};
use allod_region::value::Header;
use allod_region::{Control, Raw, batch, dict, life, objects, region_of, transmigrate};
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::OnceLock;

/// A struct of five words, the first and the fourth of them values, aligned to a cache line.
fn aligned() -> u32 {
    static ID: OnceLock<u32> = OnceLock::new();
    *ID.get_or_init(|| {
        let record = Type { align: 64, ..Type::fixed(c"aligned", 5, 0b1001) };
        types::register(&record).unwrap()
    })
}

#[derive(Clone, Debug)]
enum Part {
    /// A list made upwards or by consing, and the nodes to remember.
    List {
        up: bool,
        len: usize,
        ways_in: Vec<usize>,
    },
    Tree(u32),
    Array(usize),
    /// An array of pairs made one after another.
    Row(usize),
    Large,
    Aligned,
    Float(f64),
    Text(String),
    Cell,
    Dict(usize),
}

fn part() -> impl Strategy<Value = Part> {
    let ways = || prop::collection::vec(0..300usize, 0..4);
    prop_oneof![
        3 => (any::<bool>(), 1..300usize, ways())
            .prop_map(|(up, len, ways_in)| Part::List { up, len, ways_in }),
        2 => (1..8u32).prop_map(Part::Tree),
        2 => (0..6usize).prop_map(Part::Array),
        1 => (1..20usize).prop_map(Part::Row),
        1 => Just(Part::Large),
        1 => Just(Part::Aligned),
        1 => (-1e9..1e9).prop_map(Part::Float),
        1 => ".{0,40}".prop_map(Part::Text),
        1 => Just(Part::Cell),
        1 => (0..12usize).prop_map(Part::Dict),
    ]
}

fn small(i: usize) -> Raw {
    Raw::small_wrapping(i as i64)
}

/// Makes a part; all its objects that others may point to.
unsafe fn make(r: *mut Control, part: &Part) -> Vec<Raw> {
    // SAFETY: the region is open; what is stored is its own.
    unsafe {
        match part {
            Part::List { up, len, ways_in } => {
                let list = if *up {
                    batch::list(r, *len, small)
                } else {
                    (0..*len).fold(Raw::NIL, |next, i| objects::pair(r, small(i), next))
                };
                let nth =
                    |n: &usize| (0..n % len).fold(list, |v, _| Raw(*v.as_pair().unwrap().add(1)));
                // The ways in come first, so that a list is often entered in its middle.
                ways_in.iter().map(nth).chain([list]).collect()
            }
            Part::Tree(depth) => vec![batch::tree(r, *depth, small)],
            Part::Array(len) => vec![batch::array(r, *len, small)],
            Part::Row(n) => {
                let row = batch::array(r, *n, |i| objects::pair(r, small(i), Raw::NIL));
                let pair = *row.pointer().unwrap().add(1 + n / 2);
                vec![Raw(pair), row]
            }
            Part::Large => vec![batch::array(r, 3000, small)],
            Part::Aligned => {
                let size = types::record(aligned()).size as usize;
                let p: *mut u64 = allod_region::control::bump_aligned(r, size, 64).cast();
                p.write(Header::fixed(aligned()).0);
                for i in 1..6 {
                    p.add(i).write(small(i).0);
                }
                vec![Raw::object(p)]
            }
            Part::Float(f) => vec![objects::float(r, *f)],
            Part::Text(t) => vec![objects::string(r, t)],
            Part::Cell => vec![objects::boxed(r, Raw::NIL)],
            Part::Dict(n) => {
                let d = dict::new(r, 0);
                for i in 0..*n {
                    dict::set(d.pointer().unwrap(), small(i), small(i + 1)).unwrap();
                }
                vec![d]
            }
        }
    }
}

unsafe fn slots(v: Raw) -> Vec<*mut Raw> {
    let mut all = Vec::new();
    // SAFETY: the callers' object is alive and whole.
    unsafe {
        let (p, header) = v.object_and_header().unwrap();
        types::each_slot(p, header, &mut |slot| all.push(slot));
    }
    all
}

/// Makes a slot of one object point to another. Dictionaries and aligned objects stay as they are made.
unsafe fn join(from: Raw, slot: usize, to: Raw) {
    // SAFETY: both are alive, and the closure rule allows the store.
    unsafe {
        let all = slots(from);
        if from.type_id() != types::DICT && !all.is_empty() {
            all[slot % all.len()].write(to);
        }
    }
}

/// An object as it was: its words, and which of them are slots.
type Whole = (Vec<u64>, Vec<usize>);

/// Everything that the roots reach.
fn snapshot(roots: &[Raw]) -> HashMap<u64, Whole> {
    let mut all = HashMap::new();
    let mut todo = roots.to_vec();
    while let Some(v) = todo.pop() {
        if all.contains_key(&v.0) {
            continue;
        }
        // SAFETY: the structure is alive.
        unsafe {
            let Some((p, header)) = v.object_and_header() else { continue };
            let words = types::object_bytes(p, header) / 8;
            let at = slots(v);
            todo.extend(at.iter().map(|slot| **slot));
            let at = at.iter().map(|slot| slot.cast::<u64>().offset_from(p) as usize).collect();
            all.insert(v.0, (std::slice::from_raw_parts(p, words).to_vec(), at));
        }
    }
    all
}

/// Checks that `copies` reach in `home` what `roots` reached: one object for one object.
fn same(whole: &HashMap<u64, Whole>, roots: &[Raw], copies: &[Raw], home: *mut Control) {
    let (mut there, mut back) = (HashMap::new(), HashMap::new());
    let mut todo: Vec<(u64, u64)> = roots.iter().zip(copies).map(|(a, b)| (a.0, b.0)).collect();
    while let Some((a, b)) = todo.pop() {
        let Some((words, at)) = whole.get(&a) else {
            assert_eq!(a, b, "an immediate has changed");
            continue;
        };
        if let Some(known) = there.insert(a, b) {
            assert_eq!(known, b, "an object has become two");
            continue;
        }
        assert_eq!(back.insert(b, a), None, "two objects have become one");
        let p = Raw(b).pointer().unwrap();
        // SAFETY: the copy is alive.
        assert_eq!(unsafe { region_of(p.cast()) }, home);
        assert_eq!(Raw(a).is_pair(), Raw(b).is_pair());
        // SAFETY: the copy is alive; it has its original's length, or the headers differ.
        unsafe {
            let (_, header) = Raw(b).object_and_header().unwrap();
            assert!(Raw(b).is_pair() || *p == words[0], "a header has changed");
            let align = types::record(header.type_id()).align as usize;
            assert_eq!(p as usize % align, 0);
            for (i, word) in words.iter().enumerate() {
                if at.contains(&i) {
                    todo.push((*word, *p.add(i)));
                } else {
                    assert_eq!(*p.add(i), *word);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_travels_arrives_as_it_was(
        parts in prop::collection::vec((any::<bool>(), part()), 1..12),
        joins in prop::collection::vec((any::<u32>(), any::<u32>(), any::<u32>()), 0..24),
        chosen in prop::collection::vec(any::<u32>(), 1..5),
        used in 0..800usize,
        freeze in any::<bool>(),
    ) {
        // SAFETY: regions are open until their exits; `home` keeps `other`, which is shared.
        unsafe {
            let (home, other) = (life::create(), life::create());
            assert!(life::keep(home, other));
            let (mut all, mut others) = (Vec::new(), Vec::new());
            for (elsewhere, part) in &parts {
                let made = make(if *elsewhere { other } else { home }, part);
                if *elsewhere { others.extend(&made) }
                all.extend(made.into_iter().map(|v| (*elsewhere, v)));
            }
            for (from, slot, to) in joins {
                let (elsewhere, from) = all[from as usize % all.len()];
                let to = match elsewhere {
                    true => others[to as usize % others.len()],
                    false => all[to as usize % all.len()].1,
                };
                join(from, slot as usize, to);
            }
            if freeze { life::freeze(other) } else { life::share(other) }
            let roots: Vec<Raw> = chosen.iter().map(|i| all[*i as usize % all.len()].1).collect();
            let whole = snapshot(&roots);

            let copied = life::create();
            (0..used).for_each(|i| _ = objects::pair(copied, small(i), Raw::NIL));
            let mut copies = roots.clone();
            // Too little is allowed at first: nothing has happened then.
            if !transmigrate::copy_at_most(copied, &mut copies, 2000).unwrap() {
                assert_eq!(&copies, &roots);
                assert!(snapshot(&roots) == whole, "giving up has changed the source");
                assert_eq!(allod_region::control::accounting(copied).live, 16 * used);
                transmigrate::copy(copied, &mut copies).unwrap();
            }
            same(&whole, &roots, &copies, copied);
            assert!(snapshot(&roots) == whole, "copying has changed the source");

            let moved = life::create();
            let mut arrived = roots.clone();
            if !transmigrate::take_at_most(moved, home, &mut arrived, 2000).unwrap() {
                assert!(snapshot(&roots) == whole, "giving up has changed the source");
                transmigrate::take(moved, home, &mut arrived).unwrap();
            }
            life::exit(home);
            life::exit(other);
            same(&whole, &roots, &arrived, moved);
            same(&whole, &roots, &copies, copied);
            life::exit(copied);
            life::exit(moved);
        }
    }
}

/// A list of ten million, upwards and by consing, and a tree a million deep on either side, on a stack of
/// 64 KiB.
#[test]
fn neither_length_nor_depth_needs_stack() {
    let work = || {
        // SAFETY: regions are open until their exits; a moved one is only left.
        unsafe {
            for shape in 0..4 {
                let (source, dest) = (life::create(), life::create());
                let n = if shape < 2 { 10_000_000 } else { 1_000_000 };
                let root = match shape {
                    0 => batch::list(source, n, small),
                    1 => (0..n).fold(Raw::NIL, |v, i| objects::pair(source, small(i), v)),
                    2 => (0..n).fold(Raw::NIL, |v, i| objects::pair(source, v, small(i))),
                    _ => (0..n).fold(Raw::NIL, |v, i| {
                        let leaf = objects::float(source, i as f64);
                        objects::pair(source, leaf, v)
                    }),
                };
                let slot = usize::from(shape != 2);
                let length = |mut v: Raw| {
                    let mut n = 0;
                    while let Some(p) = v.as_pair() {
                        (v, n) = (Raw(*p.add(slot)), n + 1);
                    }
                    n
                };
                let mut roots = [root];
                transmigrate::copy(dest, &mut roots).unwrap();
                assert_eq!((length(roots[0]), length(root)), (n, n));
                life::exit(dest);
                let dest = life::create();
                let mut roots = [root];
                transmigrate::take(dest, source, &mut roots).unwrap();
                life::exit(source);
                assert_eq!(length(roots[0]), n);
                life::exit(dest);
            }
        }
    };
    std::thread::Builder::new().stack_size(64 << 10).spawn(work).unwrap().join().unwrap();
}
