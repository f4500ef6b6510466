//! What grows in proportion: nested scopes, kept regions, equality of cycles.

use allod_region::{Frozen, Raw, Region, Value, barrier, life, objects};

/// Nanoseconds of this thread's processor time.
fn cpu() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the record is valid.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut t) }, 0);
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

/// The least time of three runs.
fn least(mut run: impl FnMut()) -> u64 {
    let timed = |run: &mut dyn FnMut()| {
        let start = cpu();
        run();
        cpu() - start
    };
    (0..3).map(|_| timed(&mut run)).min().unwrap()
}

/// A list built from the innermost of so many scopes on, each of which adds a node and returns it.
fn nested(levels: usize) {
    // SAFETY: regions are open until they are left, the innermost first.
    unsafe {
        let mut open = vec![life::create()];
        for i in 0..levels {
            open.push(life::create_in(open[i]));
        }
        let mut list = [Raw::NIL];
        while open.len() > 1 {
            let (inner, outer) = (open.pop().unwrap(), *open.last().unwrap());
            list[0] = objects::pair(inner, Raw::TRUE, list[0]);
            barrier::exit_with(inner, outer, &mut list).unwrap();
        }
        assert_eq!(Value::from_raw(list[0]).iter().count(), levels);
        // What went through all of them can be copied as fast as any other list.
        let copy = Region::new();
        assert_eq!(copy.bring(Value::from_raw(list[0])).iter().count(), levels);
        life::exit(open[0]);
    }
}

#[test]
fn a_level_of_nested_scopes_costs_the_same_however_many_there_are() {
    let few = least(|| (0..8).for_each(|_| nested(1_000)));
    let many = least(|| nested(32_000));
    assert!(many < 4 * 6 * few, "{many} ns for 32,000 levels, {few} ns for 8,000");
}

#[test]
fn a_scope_within_scopes_still_leaves_garbage_behind() {
    let outer = Region::new();
    let kept = outer.scope(|middle| {
        let all = middle.scope(|inner| inner.list((0..20_000).map(Value::int)));
        middle.list(all.iter().take(1_000))
    });
    assert_eq!(kept.iter().count(), 1_000);
    assert!(outer.accounting().chunk_bytes < 200_000);
}

#[test]
fn keeping_and_storing_cost_the_same_however_many_regions_are_kept() {
    let all: Vec<_> = (0..10_000).map(|i| Frozen::build(|r| r.boxed(Value::int(i)))).collect();
    let spent = |kept: usize| {
        least(|| {
            (0..all.len() / kept).for_each(|_| {
                let r = Region::new();
                let cell = r.boxed(Value::NIL);
                for frozen in &all[..kept] {
                    let v = r.keep(frozen).unwrap();
                    assert!(cell.set_box(v).unwrap().same(v));
                }
            });
        })
    };
    let (few, many) = (spent(100), spent(all.len()));
    assert!(many < 6 * few, "{many} ns for all in one region, {few} ns for 100 in each");
}

/// Regions that are written to, and frozen ones that keep another, are no exception.
#[test]
fn so_it_is_for_regions_that_are_not_frozen_and_for_what_these_keep() {
    let base = Frozen::build(|r| r.boxed(Value::TRUE));
    let frozen: Vec<_> =
        (0..4_000).map(|_| Frozen::build(|r| r.boxed(r.keep(&base).unwrap()))).collect();
    // SAFETY: regions are open until their exits; each keeper outlives its cell only.
    let spent = |kept: usize| unsafe {
        least(|| {
            (0..frozen.len() / kept).for_each(|part| {
                let (keeper, mut all) = (life::create(), Vec::new());
                let cell = objects::boxed(keeper, Raw::NIL).pointer().unwrap();
                let store = |v: Raw| {
                    assert_eq!(barrier::store(cell, cell.add(1).cast(), v), Ok(v), "a copy");
                };
                for i in 0..kept {
                    let r = Region::from_raw(std::ptr::NonNull::new(keeper).unwrap());
                    store(r.keep(&frozen[part * kept + i]).unwrap().raw());
                    std::mem::forget(r);
                    let open = life::create();
                    assert!(life::keep(keeper, open));
                    store(objects::boxed(open, Raw::NIL));
                    store(base.get().raw());
                    all.push(open);
                }
                for open in all {
                    store(objects::boxed(open, Raw::NIL));
                    life::exit(open);
                }
                life::exit(keeper);
            });
        })
    };
    let (few, many) = (spent(40), spent(frozen.len()));
    assert!(many < 6 * few, "{many} ns for all in one region, {few} ns for 40 in each");
}

#[test]
fn kept_regions_live_as_long_as_their_keeper() {
    let keeper = Region::new();
    let kept = (0..1_000).fold(Value::NIL, |list, i| {
        let frozen = Frozen::build(|r| r.boxed(Value::int(i)));
        keeper.pair(keeper.keep(&frozen).unwrap(), list)
    });
    let heir = Region::new();
    let sum = |list: Value<'_>| list.iter().map(|v| v.unbox().unwrap().as_int().unwrap()).sum();
    let before: i64 = sum(kept);
    let raw = kept.raw();
    // SAFETY: both regions are open; the keeper's handle is given up.
    let kept = unsafe {
        assert!(life::splice(keeper.control(), heir.control()));
        std::mem::forget(keeper);
        Value::from_raw(raw)
    };
    assert_eq!((sum(kept), before), (499_500, 499_500));
}

#[test]
fn cycles_of_different_lengths_are_compared_in_proportion_to_their_lengths() {
    let r = Region::new();
    let circle = |len: i64, last: i64| {
        let end = r.pair(Value::int(last), Value::NIL);
        let start = (1..len).fold(end, |list, _| r.pair(Value::int(1), list));
        end.set_cdr(start).unwrap();
        start
    };
    // Where each pair of their nodes is looked at, these are nine hundred million.
    assert!(circle(30_000, 1) == circle(29_999, 1));
    assert!(circle(30_000, 1) != circle(29_999, 2));
    assert!(circle(6, 2) != circle(4, 2));
}
