//! The life of regions: pool, references, tethers, and what holds what.

use allod_region::counts::State;
use allod_region::{
    Error, Frozen, Message, Raw, Region, Root, Value, batch, control, life, objects,
};

/// Checked builds keep regions that are gone for longer.
const CHECKED: bool = cfg!(any(debug_assertions, feature = "validate"));

fn state(r: *mut allod_region::Control) -> State {
    // SAFETY: the tests' blocks are alive or pooled.
    unsafe { (*r).counts.state() }
}

#[test]
fn an_exited_region_is_handed_out_again() {
    let first = Region::new().control();
    let again = Region::new();
    assert_eq!(again.control() == first, !CHECKED);
    assert_eq!(again.accounting(), Default::default());
}

#[test]
fn at_most_32_regions_are_pooled() {
    let many: Vec<Region> = (0..100).map(|_| Region::new()).collect();
    drop(many);
    // The others went back in batches of 24, or wait in checked builds.
    assert!(CHECKED || (8..=32).contains(&allod_region::pooled()), "{}", allod_region::pooled());
    let again: Vec<Region> = (0..100).map(|_| Region::new()).collect();
    assert!(again.iter().all(|r| r.accounting() == Default::default()));
}

#[test]
fn a_region_goes_through_the_states_of_the_drawing() {
    let r = life::create();
    // SAFETY: each step is allowed in the state before it.
    unsafe {
        assert_eq!(state(r), State::Open);
        life::tether(r);
        life::retain(r);
        life::exit(r);
        assert_eq!(state(r), State::Pinned);
        life::untether(r);
        assert_eq!(state(r), State::Closing);
        life::tether(r);
        life::release(r);
        assert_eq!(state(r), State::Pinned);
        life::untether(r);
        assert_eq!(state(r), State::Pooled);
    }
}

#[test]
fn a_new_region_starts_with_nothing_of_the_last_one() {
    for _ in 0..2000 {
        let outer = Region::new();
        assert_eq!(outer.accounting(), Default::default());
        let cell = outer.boxed(Value::NIL);
        cell.set_box(Region::new().string("repaired")).unwrap();
        assert_eq!(outer.accounting().repairs, 1);
    }
}

#[test]
fn a_chain_of_a_million_nested_regions_ends_without_a_stack() {
    small_stack(|| {
        let mut r = Region::new();
        for _ in 0..1_000_000 {
            r = r.child();
        }
        drop(r);
    });
}

#[test]
fn a_chain_of_frozen_regions_that_keep_each_other_ends_without_a_stack() {
    small_stack(|| {
        let mut f = Frozen::build(|_| Value::NIL);
        for i in 0..100_000 {
            f = Frozen::build(|r| r.pair(r.boxed_int(i), r.keep(&f).unwrap()));
        }
        let n = f.get().iter().count();
        assert_eq!(n, 100_000);
        // The whole chain outlives what keeps its end.
        let r = Region::new();
        let kept = r.keep(&f).unwrap();
        let last = kept.iter().zip(0..).last().unwrap().0;
        assert!(r.pair(last, kept).car().unwrap().same(last));
        drop(f);
    });
}

fn small_stack(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(128 * 1024).spawn(work).unwrap().join().unwrap();
}

#[test]
fn what_keeps_what_is_found_in_linear_time() {
    // Each keeps the two before it: paths without number, regions only sixty.
    let mut all = vec![Frozen::build(|_| Value::NIL), Frozen::build(|_| Value::NIL)];
    for i in 2..60 {
        let f = Frozen::build(|r| {
            let a = r.keep(&all[i - 1]).unwrap();
            r.pair(a, r.keep(&all[i - 2]).unwrap())
        });
        all.push(f);
    }
    let r = Region::new();
    let kept = r.keep(&all[59]).unwrap();
    let stranger = Region::new();
    assert!(!r.pair(stranger.string("copied"), kept).car().unwrap().same(Value::NIL));
    assert!(r.pair(kept, kept).car().unwrap().cdr().unwrap().same(all[57].get()));
}

#[test]
fn a_region_that_was_left_grows_while_it_is_held() {
    let (root, tether) = {
        let r = Region::new();
        (r.root(r.dict(0)), r.tether(r.array(100, Value::NIL)))
    };
    let other = Region::new();
    for i in 0..1000 {
        root.get().set(Value::int(i), other.string(&i.to_string())).unwrap();
        tether.get().set_at(i as usize % 100, other.float(i as f64)).unwrap();
    }
    drop(other);
    assert_eq!(root.get().get(Value::int(77)).unwrap().as_str(), Some("77"));
    assert_eq!(tether.get().at(7).unwrap().as_float(), Some(907.0));
}

#[test]
fn roots_and_tethers_keep_a_region_past_its_scope() {
    let (root, tether) = {
        let r = Region::new();
        let v = r.list((0..1000).map(Value::int));
        (r.root(v), r.tether(v))
    };
    let reused: Vec<Region> = (0..40).map(|_| Region::new()).collect();
    reused.iter().for_each(|r| _ = r.list((0..1000).map(|_| Value::TRUE)));
    assert!(root.get() == tether.get());
    drop(root);
    assert_eq!(tether.get().iter().count(), 1000);
}

#[test]
fn roots_that_cannot_be_counted_end_the_program_instead_of_wrapping() {
    let r = Region::new();
    let root = r.root(Value::NIL);
    // SAFETY: the first word of the counts holds the references in its upper half.
    let add = |n: u64| unsafe {
        let counts = (&raw mut (*r.control()).counts).cast::<u64>();
        *counts += n;
        *counts
    };
    // As many as there can be, but one.
    add(((1 << 31) - 2) << 32);
    let last = root.clone();
    let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| last.clone()));
    assert!(refused.is_err());
    // Tethers, below them, run over into them.
    add((1 << 32) - 8);
    let tether = r.tether(Value::NIL);
    assert_eq!(add(0) >> 63, 1);
    std::mem::forget((r, root, last, tether));
}

#[test]
fn a_root_from_inside_a_scope_holds_the_scopes_region() {
    let outer = Region::new();
    for hand_over in [false, true] {
        let mut root: Option<Root> = None;
        let mut work = |inner: &Region| {
            root = Some(inner.root(inner.string("rooted")));
        };
        let v = if hand_over {
            outer.splice(|inner| {
                work(inner);
                inner.string("result")
            })
        } else {
            outer.scope(|inner| {
                work(inner);
                inner.string("result")
            })
        };
        assert_eq!(v.as_str(), Some("result"));
        assert_eq!(root.unwrap().get().as_str(), Some("rooted"));
        assert_eq!(v.as_str(), Some("result"));
    }
}

#[test]
fn a_child_that_outlives_its_parents_scope_keeps_the_parent() {
    let child = {
        let parent = Region::new();
        let child = parent.child();
        let text = parent.string("parent's");
        assert!(child.pair(text, Value::NIL).car().unwrap().same(text));
        child.root(text)
    };
    assert_eq!(child.get().as_str(), Some("parent's"));
}

#[test]
fn a_child_merged_into_a_frozen_region_ends_later_without_harm() {
    let mut child = None;
    let frozen = Frozen::build(|r| {
        let cell = r.boxed(Value::NIL);
        let c = r.child();
        let list = c.list((0..10_000).map(Value::int));
        assert!(c.merge());
        assert!(cell.set_box(list).unwrap().same(list));
        child = Some(c);
        cell
    });
    let child = child.unwrap();
    assert_eq!(child.keep(&Frozen::build(|_| Value::NIL)).unwrap_err(), Error::Frozen);
    let reader = {
        let frozen = frozen.clone();
        std::thread::spawn(move || frozen.get().unbox().unwrap().iter().count())
    };
    child.list((0..1000).map(Value::int));
    drop(child);
    assert_eq!(reader.join().unwrap(), 10_000);
    assert!(Region::new().bring(frozen.get()) == frozen.get());
}

#[test]
fn a_message_that_something_still_holds_is_refused() {
    let mut root = None;
    let refused = Message::try_build(|r| {
        root = Some(r.root(r.string("held")));
        Value::NIL
    });
    assert_eq!(refused.unwrap_err(), Error::Held);
    assert_eq!(root.unwrap().get().as_str(), Some("held"));
    let mut child = None;
    let refused = Message::try_build(|r| {
        child = Some(r.child());
        Value::NIL
    });
    assert_eq!(refused.unwrap_err(), Error::Held);
}

#[test]
fn a_circle_of_regions_that_hold_each_other_is_refused() {
    let (a, b) = (life::create(), life::create());
    // SAFETY: both are this thread's and open.
    unsafe {
        assert!(life::keep(a, b));
        assert!(life::keep(a, b), "once is enough");
        assert!(!life::keep(b, a));
        assert!(!life::merge(b, a), "the heir holds it already");
        assert!(life::outlives(b, a) && !life::outlives(a, b));
        life::exit(b);
        assert_eq!(state(b), State::Closing);
        life::exit(a);
        assert_eq!((state(a), state(b)), (State::Pooled, State::Pooled));
    }
}

#[test]
fn sharing_a_region_shares_all_that_it_holds() {
    let grand = life::create();
    // SAFETY: all regions are this thread's until they are shared.
    unsafe {
        let parent = life::create_in(grand);
        let (r, kept, deeper) = (life::create_in(parent), life::create(), life::create());
        assert!(life::keep(kept, deeper) && life::keep(r, kept));
        let text = objects::string(deeper, "deep");
        life::retain(r);
        life::share(r);
        for held in [grand, parent, kept, deeper] {
            assert!((*held).counts.is_shared());
            life::exit(held);
        }
        life::exit(r);
        let all = [r, grand, parent, kept, deeper].map(|r| r as usize);
        let text = text.0;
        // Another thread is the last who holds any of them.
        std::thread::spawn(move || {
            // A thread with a pool keeps what it reclaims, out of the way of other tests.
            drop(Region::new());
            let all = all.map(|r| r as *mut allod_region::Control);
            assert_eq!(objects::byte_slice(allod_region::Raw(text)), Some(&b"deep"[..]));
            life::release(all[0]);
            assert_eq!(all.map(state), [State::Pooled; 5]);
        })
        .join()
        .unwrap();
    }
}

#[test]
fn dropping_in_any_order_reclaims_once() {
    // Nested splices with roots taken at each level, dropped in all orders of three.
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut roots: Vec<Option<Root>> = Vec::new();
        {
            let a = Region::new();
            let v = a.splice(|b| {
                roots.push(Some(b.root(b.string("b"))));
                b.splice(|c| {
                    roots.push(Some(c.root(c.string("c"))));
                    c.splice(|d| {
                        roots.push(Some(d.root(d.string("d"))));
                        d.pair(d.string("v"), Value::NIL)
                    })
                })
            });
            assert_eq!(v.to_string(), "(\"v\")");
        }
        for i in order {
            for (j, name) in ["b", "c", "d"].iter().enumerate() {
                if let Some(root) = &roots[j] {
                    assert_eq!(root.get().as_str(), Some(*name));
                }
            }
            roots[i] = None;
        }
    }
}

#[test]
fn regions_in_thread_locals_end_with_their_thread() {
    struct Last(Region);
    impl Drop for Last {
        fn drop(&mut self) {
            // Also after the thread's pool was taken apart.
            let v = self.0.list((0..1000).map(Value::int));
            assert_eq!(Region::new().bring(v).iter().count(), 1000);
        }
    }
    thread_local!(static LAST: Last = Last(Region::new()));
    for _ in 0..100 {
        std::thread::spawn(|| LAST.with(|l| _ = l.0.string("used"))).join().unwrap();
    }
}

#[test]
fn a_region_frozen_twice_is_frozen_once() {
    for objects_made in [0, 5, 100, 10_000] {
        // SAFETY: the region is this thread's and held by a reference.
        unsafe {
            let r = life::create();
            let list = batch::list(r, objects_made, |i| Raw::small_wrapping(i as i64));
            life::retain(r);
            let before = control::accounting(r);
            life::freeze(r);
            life::freeze(r);
            assert_eq!(control::accounting(r), before);
            life::exit(r);
            let list = Value::from_raw(list);
            assert!(list.iter().map(|v| v.as_int().unwrap()).eq(0..objects_made as i64));
            life::release(r);
        }
    }
}
