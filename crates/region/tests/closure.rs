//! The closure rule: nothing reachable points into a region that is gone. The barrier keeps it, and
//! `validate` proves it.

use allod_region::{
    Error, Frozen, Raw, Region, Slot, Value, barrier, dict, life, objects, region_of, transmigrate,
};
use allod_region_derive::Trace;

fn home(v: Value<'_>) -> *mut allod_region::Control {
    // SAFETY: the value is alive.
    unsafe { region_of(v.raw().0 as *const u8) }
}

#[derive(Trace)]
struct Account<'r> {
    number: u64,
    owner: Slot<'r>,
    entries: [Slot<'r>; 3],
}

#[test]
fn every_kind_of_store_repairs_what_would_die() {
    let outer = Region::new();
    let pair = outer.pair(Value::NIL, Value::NIL);
    let cell = outer.boxed(Value::NIL);
    let array = outer.array(2, Value::NIL);
    let closure = outer.closure(0, &[Value::NIL]);
    let table = outer.dict(0);
    let account = outer.alloc(Account {
        number: 1,
        owner: Slot::new(Value::NIL),
        entries: [const { Slot::new(Value::NIL) }; 3],
    });
    {
        let inner = Region::new();
        let v = inner.list([inner.string("a"), inner.float(1.5)]);
        let key = inner.string("key");
        for stored in [
            pair.set_car(v),
            pair.set_cdr(v),
            cell.set_box(v),
            array.set_at(1, v),
            closure.set_at(0, v),
            account.owner.set(v),
            account.entries[2].set(v),
        ] {
            assert_eq!(home(stored.unwrap()), outer.control());
        }
        // Key and value at once.
        table.set(key, v).unwrap();
        assert_eq!(outer.accounting().repairs, 8);
        // And every constructor.
        for made in [
            outer.pair(v, v),
            outer.boxed(v),
            outer.array(3, v),
            outer.array_from([v, v]),
            outer.list([v]),
            outer.list([v].into_iter().filter(|_| true)),
            outer.tree(1, |_| v),
            outer.closure(1, &[v]),
            outer.dict_from([(key, v)]),
        ] {
            assert!(closed(made, outer.control()));
        }
        let other =
            Account { number: 2, owner: Slot::new(v), entries: [(); 3].map(|()| Slot::new(v)) };
        assert!(closed(outer.alloc(other).value(), outer.control()));
    }
    for v in [pair, cell, array, closure, table, account.value()] {
        assert!(closed(v, outer.control()), "{v}");
    }
    assert_eq!(pair.to_string(), "((\"a\" 1.5) \"a\" 1.5)");
    assert_eq!(table.to_string(), "#{\"key\": (\"a\" 1.5)}");
    assert_eq!(account.number, 1);
}

/// Whether all that a value reaches lies in one region.
fn closed(v: Value<'_>, r: *mut allod_region::Control) -> bool {
    let (mut todo, mut met) = (vec![v.raw()], std::collections::HashSet::new());
    while let Some(v) = todo.pop() {
        let Some(p) = v.pointer() else { continue };
        // SAFETY: what a value reaches is alive.
        let at = unsafe { region_of(p.cast()) };
        if at.is_null() || !met.insert(p) {
            continue;
        }
        if at != r {
            return false;
        }
        // SAFETY: the object is alive.
        unsafe {
            let (_, header) = v.object_and_header().unwrap();
            allod_region::types::each_slot(p, header, &mut |slot| todo.push(*slot));
        }
    }
    true
}

#[test]
fn a_store_that_keeps_the_rule_stores_the_value_itself() {
    let outer = Region::new();
    let inner = outer.child();
    let v = outer.string("outer");
    let cell = inner.boxed(Value::NIL);
    assert!(cell.set_box(v).unwrap().same(v));
    let same = inner.string("inner");
    assert!(cell.set_box(same).unwrap().same(same));
    assert!(cell.set_box(Value::symbol("s")).unwrap().same(Value::symbol("s")));
    assert_eq!(inner.accounting().repairs, 0);
}

#[test]
fn a_repair_copies_however_much_is_reached() {
    for kept in [10, 9_000] {
        let outer = Region::new();
        let cell = outer.boxed(Value::NIL);
        let child = outer.child();
        let v = child.list((0..kept).map(Value::int));
        child.list((0..10_000 - kept).map(Value::int));
        let stored = cell.set_box(v).unwrap();
        assert!(!stored.same(v));
        v.set_car(Value::int(-1)).unwrap();
        assert_eq!(stored.car().unwrap().as_int(), Some(0));
        assert_eq!(outer.accounting().repairs, 1);
        drop(child);
        assert_eq!(cell.unbox().unwrap().iter().count(), kept as usize);
    }
}

#[test]
fn what_goes_into_a_new_container_twice_is_copied_once() {
    let (outer, inner) = (Region::new(), Region::new());
    let v = inner.list((0..3).map(Value::int));
    let pair = outer.pair(v, v);
    assert!(pair.car().unwrap().same(pair.cdr().unwrap()));
    let closure = outer.closure(0, &[v, Value::TRUE, v]);
    assert!(closure.at(0).unwrap().same(closure.at(2).unwrap()));
    let array = outer.array_from([Value::NIL, v, v]);
    assert!(array.at(1).unwrap().same(array.at(2).unwrap()));
    let unsized_list = outer.list([v, Value::NIL, v].into_iter().filter(|v| !v.is_nil()));
    for list in [outer.list([v, v]), unsized_list] {
        let items: Vec<_> = list.iter().collect();
        assert!(items.len() == 2 && items[0].same(items[1]) && items[0] == v);
    }
    let tree = outer.tree(2, |i| if i == 1 { Value::TRUE } else { v });
    assert_eq!(tree.to_string(), "(((0 1 2) . true) (0 1 2) 0 1 2)");
    let lower = tree.cdr().unwrap();
    assert!(tree.car().unwrap().car().unwrap().same(lower.cdr().unwrap()));
    let dict = outer.dict(1);
    let text = inner.string("both");
    dict.set(text, text).unwrap();
    let (key, value) = dict.entries().next().unwrap();
    assert!(key.same(value));
    let from = outer.dict_from([(text, text)]).entries().next().unwrap();
    assert!(from.0.same(from.1));
    let keys =
        [Value::TRUE, text, Value::NIL].map(|key| (key, if key.is_nil() { text } else { v }));
    let from: Vec<_> = outer.dict_from(keys).entries().collect();
    assert!(from[0].1.same(from[1].1) && from[1].0.same(from[2].1) && from[1].1 == v);
    let account =
        Account { number: 1, owner: Slot::new(v), entries: [v, Value::NIL, v].map(Slot::new) };
    let account = outer.alloc(account);
    assert_eq!(home(account.owner.get()), outer.control());
    assert!(account.entries.iter().step_by(2).all(|e| e.get().same(account.owner.get())));
    assert!(account.entries[1].get().is_nil() && account.number == 1);
}

#[test]
fn what_a_scope_kept_stays_as_it_is_however_small_the_scope() {
    let frozen = Frozen::build(|r| r.list((0..10_000).map(Value::int)));
    for more in [0, 1_000] {
        let outer = Region::new();
        let survivor = outer.scope(|inner| {
            let table = inner.keep(&frozen).unwrap();
            inner.pair(table, inner.list((0..more).map(Value::int)))
        });
        assert!(survivor.car().unwrap().same(frozen.get()), "{more}");
        assert!(outer.accounting().live < 50_000, "{more}");
    }
    // So does what a kept region keeps in turn, and what only the parent of the scope's region keeps.
    let above = Frozen::build(|r| r.pair(r.keep(&frozen).unwrap(), Value::NIL));
    let (heir, parent) = (Region::new(), Region::new());
    let theirs = parent.keep(&above).unwrap();
    let inner = parent.child();
    let mut roots = [inner.boxed(theirs.car().unwrap()).raw()];
    // SAFETY: both regions are open; the handle of the inner one is given up.
    let survivor = unsafe {
        barrier::exit_with(inner.control(), heir.control(), &mut roots).unwrap();
        std::mem::forget(inner);
        drop((parent, above));
        Value::from_raw(roots[0])
    };
    assert!(survivor.unbox().unwrap().same(frozen.get()));
    assert!(heir.accounting().live < 100);
    // A region that a root holds is left after a copy.
    let outer = Region::new();
    let inner = outer.child();
    let survivor = inner.boxed(inner.keep(&frozen).unwrap());
    let _root = inner.root(survivor);
    let mut roots = [survivor.raw()];
    // SAFETY: both regions are open; the handle of the inner one is given up.
    let survivor = unsafe {
        barrier::exit_with(inner.control(), outer.control(), &mut roots).unwrap();
        std::mem::forget(inner);
        Value::from_raw(roots[0])
    };
    assert!(survivor.unbox().unwrap().same(frozen.get()));
}

#[test]
fn a_child_that_is_part_of_a_frozen_region_goes_on_as_a_region() {
    let outer = Region::new();
    let child = outer.child();
    let before = child.pair(Value::int(1), Value::NIL);
    assert!(child.merge());
    // SAFETY: the region is this thread's.
    unsafe { life::freeze(outer.control()) };
    assert_eq!(before.set_car(Value::NIL), Err(Error::Frozen));
    assert_eq!(child.try_closure(7, &[before]).unwrap().at(0).unwrap().car(), before.car());
    for len in [3, 3_000] {
        let list = child.try_scope(|inner| inner.list((0..len).map(Value::int))).unwrap();
        assert_eq!(list.iter().count(), len as usize);
    }
}

/// Runs `plant` with an outer and an inner region; it returns what is held outside all regions. The
/// inner region is left while that is registered as a root.
#[allow(dead_code)]
fn leave_after(plant: unsafe fn(*mut allod_region::Control, *mut allod_region::Control) -> Raw) {
    struct Registered(Box<Raw>);
    impl Drop for Registered {
        fn drop(&mut self) {
            allod_region::validate::remove_root(&mut *self.0);
        }
    }
    let (outer, inner) = (life::create(), life::create());
    // SAFETY: both regions are open; `validate` reports what is wrong before harm is done.
    unsafe {
        let mut global = Registered(Box::new(plant(outer, inner)));
        allod_region::validate::add_root(&mut *global.0);
        life::exit(inner);
        drop(global);
        life::exit(outer);
    }
}

#[test]
fn what_went_through_the_barrier_passes_the_proof() {
    leave_after(|outer, inner| unsafe {
        // SAFETY: all objects are alive and both regions open.
        let d = objects::array(outer, 3, Raw::NIL);
        let p = d.pointer().unwrap();
        barrier::store(p, p.add(1).cast(), objects::string(inner, "stored")).unwrap();
        let table = dict::new(outer, 0);
        dict::set(table.pointer().unwrap(), objects::string(inner, "k"), objects::int(inner, 1))
            .unwrap();
        barrier::store(p, p.add(2).cast(), table).unwrap();
        d
    });
}

#[cfg(feature = "validate")]
mod proof {
    use super::*;
    use allod_region::symbol;

    macro_rules! found {
        ($($name:ident: |$outer:ident, $inner:ident| $plant:expr;)*) => { $(
            #[test]
            #[should_panic(expected = "still reachable")]
            fn $name() {
                // SAFETY: wrong on purpose.
                leave_after(|$outer, $inner| unsafe { $plant });
            }
        )* };
    }

    found! {
        a_root_in_the_region_is_found: |_outer, inner| objects::int(inner, 1);
        a_pair_past_the_barrier_is_found: |outer, inner| {
            objects::pair(outer, Raw::NIL, objects::int(inner, 1))
        };
        an_array_past_the_barrier_is_found: |outer, inner| {
            objects::array(outer, 1000, objects::float(inner, 1.0))
        };
        a_large_object_past_the_barrier_is_found: |outer, inner| {
            objects::boxed(outer, objects::array(inner, 100_000, Raw::NIL))
        };
        a_closure_past_the_barrier_is_found: |outer, inner| {
            objects::closure(outer, 1, &[Raw::NIL, objects::string(inner, "captured")])
        };
        a_dictionary_entry_past_the_barrier_is_found: |outer, inner| {
            let d = dict::new(outer, 4);
            dict::set(d.pointer().unwrap(), Raw::TRUE, objects::boxed(outer, Raw::NIL)).unwrap();
            let (_, v) = dict::entry(d.pointer().unwrap(), 0).unwrap().unwrap();
            *v.pointer().unwrap().add(1) = objects::int(inner, 1).0;
            d
        };
        a_deep_violation_is_found: |outer, inner| {
            let mut v = objects::pair(outer, objects::int(inner, 1), Raw::NIL);
            for _ in 0..100_000 {
                v = objects::pair(outer, Raw::NIL, v);
            }
            v
        };
        a_violation_behind_a_cycle_is_found: |outer, inner| {
            let v = objects::pair(outer, objects::int(inner, 1), Raw::NIL);
            let ring = objects::pair(outer, Raw::NIL, v);
            *ring.as_pair().unwrap() = ring.0;
            ring
        };
    }

    #[test]
    #[should_panic(expected = "still reachable (from a Account)")]
    fn a_users_field_past_the_barrier_is_found_and_named() {
        let outer = Region::new();
        let inner = Region::new();
        let account = outer.alloc(Account {
            number: 0,
            owner: Slot::new(Value::symbol("nobody")),
            entries: [const { Slot::new(Value::NIL) }; 3],
        });
        let root = outer.root(account.value());
        // SAFETY: wrong on purpose: the owner's word is written past the barrier. Slots are words, and
        // the object is its region's.
        unsafe {
            let owner = (&raw const account.owner).cast_mut().cast::<Raw>();
            *owner = inner.string("dies").raw();
        }
        std::mem::forget(outer);
        drop(inner);
        drop(root);
    }

    #[test]
    #[should_panic(expected = "still reachable")]
    fn a_rust_root_is_a_root_of_the_proof() {
        let (outer, inner) = (Region::new(), Region::new());
        // SAFETY: wrong on purpose: past the barrier.
        let pair = unsafe {
            Value::from_raw(objects::pair(outer.control(), inner.string("dies").raw(), Raw::NIL))
        };
        let _root = outer.root(pair);
        drop(inner);
    }

    #[test]
    fn a_root_that_was_dropped_is_none() {
        let (outer, inner) = (Region::new(), Region::new());
        // SAFETY: the pair is not used once the inner region is gone.
        let pair = unsafe {
            Value::from_raw(objects::pair(outer.control(), inner.string("dies").raw(), Raw::NIL))
        };
        drop(outer.root(pair));
        drop(outer.tether(pair));
        drop(inner);
    }

    #[test]
    fn dead_memory_is_poisoned() {
        let r = life::create();
        // SAFETY: the blocks stay mapped: one is in the pool, the other in the thread's cache.
        unsafe {
            let inline = objects::int(r, 1).pointer().unwrap();
            let mut chunk = inline;
            for _ in 0..50 {
                chunk = objects::int(r, 1).pointer().unwrap();
            }
            life::exit(r);
            assert_eq!((*inline, *inline.add(1)), (0xDBDB_DBDB_DBDB_DBDB, 0xDBDB_DBDB_DBDB_DBDB));
            assert_eq!(*chunk, 0xDBDB_DBDB_DBDB_DBDB);
        }
        assert_eq!(symbol::intern("alive"), symbol::intern("alive"));
    }
}

#[test]
fn a_merged_region_left_with_survivors_elsewhere_keeps_its_heirs_objects() {
    // SAFETY: all three are open and this thread's; survivors are used while their regions are open.
    unsafe {
        let (heir, elsewhere, merged) = (life::create(), life::create(), life::create());
        let list = objects::pair(merged, Raw::small_wrapping(1), Raw::NIL);
        assert!(life::merge(merged, heir));
        let cell = Value::from_raw(objects::boxed(heir, list));
        let mut roots = [list];
        barrier::exit_with(merged, elsewhere, &mut roots).unwrap();
        let survivor = Value::from_raw(roots[0]);
        assert_eq!(home(survivor), elsewhere);
        assert_eq!([survivor, cell.unbox().unwrap()].map(|v| v.to_string()), ["(1)", "(1)"]);
        life::exit(elsewhere);
        life::exit(heir);
    }
}

#[test]
fn a_move_out_of_a_merged_region_leaves_its_heirs_objects() {
    // SAFETY: all three are open and this thread's.
    unsafe {
        let (heir, elsewhere, merged) = (life::create(), life::create(), life::create());
        let list = objects::pair(merged, Raw::small_wrapping(1), Raw::NIL);
        assert!(life::merge(merged, heir));
        let mut roots = [list];
        transmigrate::take(elsewhere, merged, &mut roots).unwrap();
        life::exit(merged);
        assert_eq!([list, roots[0]].map(|v| Value::from_raw(v).to_string()), ["(1)", "(1)"]);
        life::exit(elsewhere);
        life::exit(heir);
    }
}

/// An object outside all regions, as a compiler emits for a constant.
#[repr(C, align(8))]
struct Constant<const WORDS: usize>([Raw; WORDS]);

impl<const WORDS: usize> Constant<WORDS> {
    fn new(id: u32, len: usize) -> Constant<WORDS> {
        let mut words = [Raw::NIL; WORDS];
        if id != allod_region::types::PAIR {
            words[0] = Raw(allod_region::value::Header::with_len(id, len).0);
        }
        Constant(words)
    }

    fn object(&mut self) -> *mut u64 {
        self.0.as_mut_ptr().cast()
    }
}

#[test]
fn a_container_outside_all_regions_refuses_what_lies_in_one() {
    use allod_region::{Error, Frozen, types};
    let (mut pair, mut array) =
        (Constant::<2>::new(types::PAIR, 0), Constant::<3>::new(types::ARRAY, 2));
    let (pair, array) = (pair.object(), array.object());
    let r = Region::new();
    let frozen = Frozen::build(|r| r.string("goes, too"));
    // SAFETY: the containers are alive, and what is stored in them is used while it is.
    unsafe {
        let slots = [pair, pair.add(1), array.add(1), array.add(2)].map(|p| p.cast::<Raw>());
        for (i, slot) in slots.into_iter().enumerate() {
            let container = if i < 2 { pair } else { array };
            for dies in [r.string("dies"), r.boxed_int(1), frozen.get()] {
                for store in [barrier::store, barrier::store_checked] {
                    let stored = store(container, slot, dies.raw());
                    assert_eq!((stored, *slot), (Err(Error::OutsideRegion), Raw::NIL));
                }
            }
            // What lives for ever may be stored: immediates, symbols, and other constants.
            let symbol = Value::symbol("stays").raw();
            for stays in [Raw::TRUE, symbol, Raw::object(array), Raw::pair(pair), Raw::NIL] {
                assert_eq!(barrier::store(container, slot, stays), Ok(stays));
                assert_eq!(*slot, stays);
            }
        }
    }
}

#[test]
fn a_dictionary_outside_all_regions_refuses_what_lies_in_one_and_does_not_grow() {
    use allod_region::{Error, types};
    let r = Region::new();
    let model = r.dict(4);
    const WORDS: usize = 2 + 3 + 2 * 4;
    // SAFETY: an empty dictionary and its table, as they lie in a region, in memory of the test's own.
    unsafe {
        let p = model.raw().pointer().unwrap();
        let mut words = *p.cast::<[u64; WORDS]>();
        let d = words.as_mut_ptr();
        *d.add(1) = d.add(2) as u64;
        assert_eq!(Raw::object(d).type_id(), types::DICT);
        let (key, dies) = (Raw::small_wrapping, r.string("dies").raw());
        assert_eq!(dict::set(d, key(1), dies), Err(Error::OutsideRegion));
        assert_eq!(dict::set(d, dies, Raw::NIL), Err(Error::OutsideRegion));
        assert_eq!(dict::len(d), 0);
        for i in 0..4 {
            assert_eq!(dict::set(d, key(i), Raw::TRUE), Ok(()));
        }
        assert_eq!(dict::set(d, key(4), Raw::TRUE), Err(Error::OutsideRegion));
        assert_eq!(dict::set(d, key(3), Raw::NIL), Ok(()));
        assert_eq!(dict::remove(d, key(0)), Ok(Some(Raw::TRUE)));
        assert_eq!((dict::len(d), dict::get(d, key(3))), (3, Some(Raw::NIL)));
    }
}

#[test]
fn a_move_out_of_a_region_that_others_may_read_leaves_it_as_it_is() {
    for freeze in [false, true] {
        let (source, dest) = (Region::new(), Region::new());
        let list = source.list((0..2_000).map(Value::int));
        let held = source.root(list);
        let mut roots = [list.raw()];
        // SAFETY: both regions are this thread's and open.
        let moved = unsafe {
            if freeze {
                life::freeze(source.control())
            } else {
                life::share(source.control())
            }
            transmigrate::take(dest.control(), source.control(), &mut roots).unwrap();
            Value::from_raw(roots[0])
        };
        drop(source);
        assert!(moved == held.get() && !moved.same(held.get()));
        assert_eq!(held.get().iter().filter_map(Value::as_int).sum::<i64>(), 1_999_000);
    }
}
