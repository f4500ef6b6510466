//! What regions promise, one test a promise.

use allod_region::{Control, Error, Frozen, Kind, Message, Region, Slot, Value};
use allod_region_derive::Trace;

/// The region of an address, in no region or in one of this thread's.
fn region_of<T>(p: *const T) -> *mut Control {
    // SAFETY: no other thread ends regions of this one.
    unsafe { allod_region::region_of(p.cast()) }
}

#[test]
fn every_alignment_and_size_is_served() {
    let r = Region::new();
    for align in (0..=16).map(|i| 1usize << i) {
        for size in [0, 1, 7, 8, 100, 511, 4096, 70_000, 1 << 20] {
            let m = r.try_memory(size, align).unwrap();
            assert_eq!(m.as_ptr() as usize % align, 0);
            m.fill(std::mem::MaybeUninit::new(0xA5));
        }
    }
    assert_eq!(r.try_memory(8, 1 << 17).unwrap_err(), Error::OutOfMemory);
    assert_eq!(r.try_memory(usize::MAX, 8).unwrap_err(), Error::OutOfMemory);
    assert_eq!(r.try_memory(isize::MAX as usize, 8).unwrap_err(), Error::OutOfMemory);
    assert_eq!(r.try_memory(isize::MAX as usize - 4096, 4096).unwrap_err(), Error::OutOfMemory);
}

#[test]
fn region_of_finds_the_region_of_every_object() {
    let (a, b) = (Region::new(), Region::new());
    for i in 0..20_000 {
        for r in [&a, &b] {
            let p = r.boxed_int(i).raw().pointer().unwrap();
            assert_eq!(region_of(p), r.control());
        }
    }
    let big = a.array(100_000, Value::NIL).raw().pointer().unwrap();
    assert_eq!(region_of(big), a.control());
    assert_eq!(region_of(big.wrapping_add(99_999)), a.control());
    assert!(region_of(&raw const a).is_null());
    assert!(region_of(Value::symbol("x").raw().pointer().unwrap()).is_null());
}

#[test]
fn values_read_back_as_they_were_made() {
    let r = Region::new();
    assert_eq!(r.int(-5).as_int(), Some(-5));
    assert_eq!(r.int(i64::MIN).as_int(), Some(i64::MIN));
    assert_eq!(r.int(i64::MAX).as_int(), Some(i64::MAX));
    assert_eq!(r.int(1 << 60).kind(), Kind::Int);
    assert_eq!(r.float(1.5).as_float(), Some(1.5));
    assert_eq!(Value::char('é').as_char(), Some('é'));
    assert_eq!(Value::bool(true).as_bool(), Some(true));
    assert_eq!(r.string("grüße").as_str(), Some("grüße"));
    assert_eq!(r.bytes(&[1, 2, 3]).as_bytes(), Some(&[1, 2, 3][..]));
    assert!(Value::symbol("abc").same(Value::symbol("abc")));
    assert!(!r.uninterned_symbol("abc").same(Value::symbol("abc")));
    assert_eq!(r.uninterned_symbol("abc").as_symbol(), Some("abc"));
    let c = r.closure(0x1234, &[Value::int(1), r.string("x")]);
    assert_eq!((c.code(), c.len()), (Some(0x1234), Some(2)));
    assert_eq!(c.at(1).unwrap().as_str(), Some("x"));
    let d = r.dict_from([(r.string("a"), Value::int(1)), (Value::symbol("b"), Value::NIL)]);
    let a = r.array_from([r.float(0.5), d, Value::char('x')]);
    assert_eq!(a.to_string(), r##"#[0.5 #{"a": 1, b: nil} 'x']"##);
}

#[test]
fn equality_and_printing_end_for_cycles() {
    let r = Region::new();
    let ring = |n: i64| {
        let first = r.pair(Value::int(1), Value::NIL);
        let mut last = first;
        for _ in 1..n {
            let next = r.pair(Value::int(1), Value::NIL);
            last.set_cdr(next).unwrap();
            last = next;
        }
        last.set_cdr(first).unwrap();
        first
    };
    assert_eq!(ring(2), ring(3));
    assert_ne!(ring(2), r.list([Value::int(1), Value::int(1)]));
    assert_eq!(ring(2).to_string(), "(1 1 . ...)");
}

#[test]
fn survivors_of_a_scope_stay_whether_few_or_many() {
    let r = Region::new();
    for n in [1usize, 10, 1000, 100_000] {
        for garbage in [0usize, 10, 100_000] {
            let list = r.scope(|inner| {
                for i in 0..garbage {
                    inner.float(i as f64);
                }
                let mut list = Value::NIL;
                for i in (0..n as i64).rev() {
                    list = inner.pair(inner.boxed_int(i), list);
                }
                list
            });
            assert!(list.iter().map(|v| v.as_int().unwrap()).eq(0..n as i64));
            let p = list.raw().pointer().unwrap();
            assert_eq!(region_of(p), r.control());
        }
    }
}

#[test]
fn a_spliced_inline_buffer_stays_where_it_is() {
    let r = Region::new();
    let mut address = 0;
    let v = r.splice(|inner| {
        let v = inner.pair(Value::int(1), inner.string("inline"));
        address = v.raw().0;
        v
    });
    assert_eq!(v.raw().0, address);
    assert_eq!(region_of(address as *const u8), r.control());
    let unrelated: Vec<Region> = (0..200).map(|_| Region::new()).collect();
    unrelated.iter().for_each(|u| _ = u.string("overwrites what is free"));
    assert_eq!(v.to_string(), "(1 . \"inline\")");
}

#[test]
fn splices_nest() {
    let r = Region::new();
    let mut v = Value::NIL;
    for i in 0..50 {
        v = r.splice(|a| a.splice(|b| b.pair(b.boxed_int(i), b.bring(v))));
    }
    assert_eq!(v.iter().count(), 50);
}

#[test]
fn transmigration_keeps_sharing_and_cycles() {
    let (a, b) = (Region::new(), Region::new());
    let shared = a.string("shared");
    let ring = a.pair(shared, Value::NIL);
    ring.set_cdr(a.pair(shared, ring)).unwrap();
    let [x, y] = b.bring_all([ring, shared]).unwrap();
    assert!(x.car().unwrap().same(y));
    assert!(x.cdr().unwrap().cdr().unwrap().same(x));
    assert!(!x.same(ring));
    assert_eq!(ring.car().unwrap().as_str(), Some("shared"));
    drop(a);
    assert_eq!(x.car().unwrap().as_str(), Some("shared"));
}

#[test]
fn a_long_list_and_a_deep_tree_need_no_stack() {
    std::thread::Builder::new()
        .stack_size(64 * 1024)
        .spawn(|| {
            let (a, b) = (Region::new(), Region::new());
            let list = a.list((0..1_000_000).map(Value::int));
            assert_eq!(b.bring(list).iter().count(), 1_000_000);
            let mut deep = Value::NIL;
            for i in 0..1_000_000 {
                deep = a.pair(deep, Value::int(i));
            }
            let copy = b.bring(deep);
            assert!(copy == deep);
        })
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn a_store_into_an_older_region_copies_what_would_die() {
    let outer = Region::new();
    let pair = outer.pair(Value::NIL, Value::NIL);
    {
        let inner = Region::new();
        let text = inner.string("inner");
        let stored = pair.set_car(text).unwrap();
        assert!(!stored.same(text));
        pair.set_cdr(inner.list([Value::int(1), text])).unwrap();
    }
    assert_eq!(pair.to_string(), "(\"inner\" 1 \"inner\")");
    assert_eq!(outer.accounting().repairs, 2);
}

#[test]
fn a_merged_childs_values_are_stored_as_they_are() {
    let outer = Region::new();
    let cell = outer.boxed(Value::NIL);
    {
        let child = outer.child();
        let list = child.list((0..10_000).map(Value::int));
        assert!(child.merge());
        assert!(cell.set_box(list).unwrap().same(list));
        child.list((0..10).map(Value::int));
    }
    assert_eq!(cell.unbox().unwrap().iter().count(), 10_000);
}

#[test]
fn a_child_may_hold_its_parents_values() {
    let outer = Region::new();
    let text = outer.string("outer");
    let child = outer.child();
    assert!(child.pair(text, Value::NIL).car().unwrap().same(text));
    assert_eq!(outer.accounting().repairs + child.accounting().repairs, 0);
}

#[test]
fn a_frozen_region_refuses_stores() {
    let f = Frozen::build(|r| r.pair(Value::NIL, r.dict(4)));
    assert_eq!(f.get().set_car(Value::int(1)), Err(Error::Frozen));
    assert_eq!(f.get().cdr().unwrap().set(Value::int(1), Value::int(1)), Err(Error::Frozen));
    let r = Region::new();
    let kept = r.keep(&f).unwrap();
    let holder = r.pair(kept, Value::NIL);
    drop(f);
    assert!(holder.car().unwrap().same(kept));
    assert_eq!(holder.to_string(), "((nil . #{}))");
}

#[test]
fn the_owner_may_end_before_its_readers() {
    let f = std::thread::spawn(|| Frozen::build(|r| r.list((0..10_000).map(Value::int))))
        .join()
        .unwrap();
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let f = f.clone();
            std::thread::spawn(move || {
                let t = f.tether();
                drop(f);
                t.get().iter().count()
            })
        })
        .collect();
    drop(f);
    assert!(readers.into_iter().all(|t| t.join().unwrap() == 10_000));
}

#[test]
fn messages_travel_without_copying() {
    let m = Message::build(|r| r.list((0..100_000).map(Value::int)));
    let m = std::thread::spawn(|| m.then(|r, v| r.pair(r.string("stage"), v))).join().unwrap();
    let here = Region::new();
    let v = m.receive(&here);
    assert_eq!(v.iter().count(), 100_001);
    drop(Message::build(|r| r.string("never received")));
}

#[derive(Trace)]
struct Node<'r> {
    key: u32,
    left: Option<allod_region::Ref<'r, Node<'r>>>,
    next: Slot<'r>,
    both: [Value<'r>; 2],
}

#[derive(Trace)]
#[repr(align(64))]
struct Aligned<'r>(u8, Value<'r>);

#[test]
fn derived_types_are_traced() {
    let (a, b) = (Region::new(), Region::new());
    let leaf = a.alloc(Node {
        key: 1,
        left: None,
        next: Slot::new(Value::NIL),
        both: [Value::int(7), a.string("leaf")],
    });
    let node = a.alloc(Node {
        key: 2,
        left: Some(leaf),
        next: Slot::new(leaf.value()),
        both: [Value::NIL; 2],
    });
    node.both[0].iter().count();
    let copy = b.bring(node.value());
    drop(a);
    let copy = copy.get_as::<Node>().unwrap();
    let left = copy.left.unwrap();
    assert_eq!((copy.key, left.key), (2, 1));
    assert!(copy.next.get().same(left.value()));
    assert_eq!(left.both[1].as_str(), Some("leaf"));
    left.next.set(Region::new().string("set")).unwrap();
    assert_eq!(left.next.get().as_str(), Some("set"));
    assert_eq!(Slot::new(Value::NIL).set(Value::NIL), Err(Error::OutsideRegion));
}

#[test]
fn alignment_survives_transmigration() {
    let (a, b) = (Region::new(), Region::new());
    let mut v = Value::NIL;
    for i in 0..1000 {
        a.string("shifts");
        v = a.alloc(Aligned(i as u8, v)).value();
    }
    let mut copy = b.bring(v);
    for i in (0..1000).rev() {
        let o = copy.get_as::<Aligned>().unwrap();
        assert_eq!((&raw const *o as usize % 64, o.0), (0, i as u8));
        copy = o.1;
    }
    assert!(copy.is_nil());
}

#[test]
fn large_objects_are_transmigrated() {
    let (a, b) = (Region::new(), Region::new());
    let big = a.array(50_000, Value::NIL);
    for i in 0..50_000 {
        big.set_at(i, a.boxed_int(i as i64)).unwrap();
    }
    let outer = a.array_from([big, a.bytes(&[7; 100_000]), big]);
    let copy = b.bring(outer);
    drop(a);
    assert!(copy.at(0).unwrap().same(copy.at(2).unwrap()));
    assert_eq!(copy.at(1).unwrap().as_bytes(), Some(&[7; 100_000][..]));
    assert!((0..50_000).all(|i| copy.at(0).unwrap().at(i).unwrap().as_int() == Some(i as i64)));
}

#[test]
fn a_dict_keeps_order_and_grows_in_its_region() {
    let r = Region::new();
    let d = r.dict(0);
    for i in 0..1000 {
        d.set(r.string(&i.to_string()), Value::int(i)).unwrap();
    }
    for i in (0..1000).step_by(2) {
        assert_eq!(d.remove(r.string(&i.to_string())).unwrap().unwrap().as_int(), Some(i));
    }
    d.set(Value::int(5), Value::TRUE).unwrap();
    assert_eq!(d.set(r.pair(d, d), d), Err(Error::NotAKey));
    assert_eq!(d.len(), Some(501));
    assert!(d.entries().take(500).map(|e| e.1.as_int().unwrap()).eq((0..500).map(|i| 2 * i + 1)));
    assert!(d.contains(r.boxed_int(5)));
    let b = Region::new();
    let copy = b.bring(d);
    assert_eq!(copy, d);
    assert_eq!(copy.get(b.string("77")).unwrap().as_int(), Some(77));
}

#[test]
fn stores_into_a_region_that_a_tether_or_a_root_keeps_are_repaired() {
    let r = Region::new();
    let (tether, root) = (r.tether(r.pair(Value::NIL, Value::NIL)), r.root(r.boxed(Value::NIL)));
    drop(r);
    let other = Region::new();
    for _ in 0..100 {
        tether.get().set_car(other.string("beyond its scope")).unwrap();
        root.get().set_box(other.string("beyond its scope, too")).unwrap();
    }
    drop(other);
    assert_eq!(tether.get().car().unwrap().as_str(), Some("beyond its scope"));
    drop(tether);
    assert_eq!(root.get().unbox().unwrap().as_str(), Some("beyond its scope, too"));
}

#[test]
fn a_long_chain_of_regions_ends_without_a_deep_stack() {
    let mut newest = Frozen::build(|_| Value::int(0));
    let mut inner = Region::new();
    for i in 1..100_000 {
        newest = Frozen::build(|r| {
            let older = r.keep(&newest).unwrap();
            r.pair(Value::int(i), older)
        });
        inner = inner.child();
    }
    assert_eq!(newest.get().car(), Some(Value::int(99_999)));
    let kept = inner.keep(&newest).unwrap();
    assert!(kept.same(inner.bring(kept)), "what is kept is not copied");
}

#[test]
fn many_ways_to_one_kept_region_are_searched_once() {
    let bottom = Frozen::build(|_| Value::NIL);
    let mut top = bottom.clone();
    for _ in 0..64 {
        let sides = [(), ()].map(|()| Frozen::build(|r| r.pair(Value::NIL, r.keep(&top).unwrap())));
        top = Frozen::build(|r| r.list(sides.iter().map(|side| r.keep(side).unwrap())));
    }
    let (r, stranger) = (Region::new(), Region::new());
    let kept = r.keep(&top).unwrap();
    assert!(kept.same(r.bring(kept)));
    let foreign = stranger.string("of a region that is not kept");
    assert!(!foreign.same(r.bring(foreign)), "2^64 ways end in a copy");
}
