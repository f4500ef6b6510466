//! What is dead in a region that stays open is freed; leaving many scopes at once; stores that keep identity.

use allod_region::{
    Control, Error, Frozen, Raw, Region, Value, barrier, batch, control, dict, life, objects,
    region_of,
};

fn small(i: usize) -> Raw {
    Raw::small_wrapping(i as i64)
}

unsafe fn text(v: Raw) -> String {
    // SAFETY: the caller's value is alive.
    unsafe { Value::from_raw(v) }.to_string()
}

/// Evacuates with roots in several places, the first of them named twice.
unsafe fn evacuate(r: *mut Control, roots: &mut [Raw]) -> Result<(), Error> {
    let first = roots.as_mut_ptr();
    // SAFETY: the caller's region is open, and its roots are all that is used.
    unsafe {
        barrier::evacuate(r, |each| {
            each(first);
            (0..roots.len()).for_each(|i| each(first.add(i)));
        })
    }
}

#[test]
fn a_region_that_is_evacuated_keeps_its_address_and_what_the_roots_reach() {
    // SAFETY: regions are open until their exits.
    unsafe {
        let (parent, other) = (life::create(), life::create());
        let r = life::create_in(parent);
        let above = objects::pair(parent, Raw::TRUE, Raw::NIL);
        let elsewhere = objects::pair(other, small(7), Raw::NIL);
        let frozen = Frozen::build(|r| r.string("frozen"));
        let handle = Region::from_raw(std::ptr::NonNull::new(r).unwrap());
        let theirs = handle.keep(&frozen).unwrap().raw();
        std::mem::forget(handle);
        let shared = objects::boxed(r, above);
        let ring = objects::pair(r, shared, Raw::NIL);
        *ring.as_pair().unwrap().add(1) = ring.0;
        let table = dict::new(r, 0);
        for i in 0..100 {
            dict::set(table.pointer().unwrap(), small(i), shared).unwrap();
        }
        for i in (0..100).step_by(3) {
            dict::remove(table.pointer().unwrap(), small(i)).unwrap();
        }
        let row = batch::array(r, 3, |i| [ring, table, theirs][i]);
        let mut roots = [row, ring, elsewhere, above, Raw(0), small(3), shared];
        let printed = text(row);
        let mut live = 0;
        for turn in 0..200 {
            (0..5_000).for_each(|i| _ = objects::pair(r, small(i), Raw::NIL));
            batch::array(r, 200_000, small);
            if turn % 7 == 0 {
                let inner = life::create();
                batch::list(inner, 3_000, small);
                assert!(life::splice(inner, r));
            }
            evacuate(r, &mut roots).unwrap();
            let account = control::accounting(r);
            live = if turn == 0 { account.live } else { live };
            assert_eq!((account.live, account.inline_used), (live, 0));
            assert!(account.chunk_bytes < 40_000, "{account:?}");
            let slot = |v: Raw, i| Raw(*v.pointer().unwrap().add(i));
            assert_eq!(
                (roots[2], roots[3], roots[4], roots[5]),
                (elsewhere, above, Raw(0), small(3))
            );
            assert_eq!((slot(roots[0], 1), slot(roots[0], 3)), (roots[1], theirs));
            assert_eq!((slot(roots[1], 0), slot(roots[1], 1)), (roots[6], roots[1]));
            assert_eq!((text(roots[0]), slot(roots[6], 1)), (printed.clone(), above));
            assert_eq!(dict::get(slot(roots[0], 2).pointer().unwrap(), small(4)), Some(roots[6]));
            for v in [roots[0], roots[1], roots[6]] {
                assert_eq!(region_of(v.0 as *const u8), r);
            }
        }
        // What it held it still holds, and it goes on as any other region.
        drop(frozen);
        let v = objects::boxed(r, Raw::NIL).pointer().unwrap();
        assert_eq!(barrier::store(v, v.add(1).cast(), theirs), Ok(theirs));
        assert_eq!(barrier::store(v, v.add(1).cast(), above), Ok(above));
        let mut survivor = [roots[0]];
        barrier::exit_with(r, other, &mut survivor).unwrap();
        assert_eq!(text(survivor[0]), printed);
        life::exit(parent);
        life::exit(other);
    }
}

#[test]
fn nothing_is_evacuated_that_others_may_point_to() {
    // SAFETY: regions are open until their exits.
    unsafe {
        let (r, heir) = (life::create(), life::create());
        let list = batch::list(r, 10, small);
        let refused = |why| {
            let mut roots = [list];
            assert_eq!(evacuate(r, &mut roots), Err(why));
            assert_eq!((roots, text(list)), ([list], "(0 1 2 3 4 5 6 7 8 9)".into()));
        };
        life::tether(r);
        refused(Error::Held);
        life::untether(r);
        life::retain(r);
        refused(Error::Held);
        life::release(r);
        let child = life::create_in(r);
        refused(Error::Held);
        life::exit(child);
        assert!(life::keep(heir, r));
        refused(Error::Held);
        life::exit(heir);
        let mut roots = [list];
        evacuate(r, &mut roots).unwrap();
        assert!(roots[0] != list);
        let shared = life::create();
        life::share(shared);
        assert_eq!(evacuate(shared, &mut []), Err(Error::Held));
        life::freeze(shared);
        assert_eq!(evacuate(shared, &mut []), Err(Error::Frozen));
        let merged = life::create();
        assert!(life::merge(merged, r));
        assert_eq!(evacuate(merged, &mut []), Err(Error::Held));
        assert_eq!(evacuate(r, &mut []), Err(Error::Held));
        [merged, shared, r].into_iter().for_each(|r| life::exit(r));
    }
}

#[test]
fn an_escape_leaves_all_scopes_down_to_a_mark() {
    // SAFETY: regions are open until they are left.
    unsafe {
        let (mark, stranger) = (life::create(), life::create());
        let mut all = vec![mark];
        for i in 0..10_000 {
            let r = life::create_in(all[i]);
            objects::pair(r, Raw::NIL, Raw::NIL);
            all.push(r);
        }
        // One was left already, one is held on, one belongs to its parent.
        life::exit(all[77]);
        life::retain(all[500]);
        assert!(life::merge(all[900], all[899]));
        let held = objects::string(all[500], "held");
        assert!(!life::exit_to(all[10_000], stranger));
        assert!(!life::exit_to(mark, all[3]), "the other way round");
        assert!(life::exit_to(mark, mark));
        assert!(life::exit_to(all[10_000], all[9_000]));
        assert_eq!((*all[9_000]).counts.state(), allod_region::counts::State::Open);
        assert!(life::exit_to(all[9_000], mark));
        assert!((*mark).counts.is_held() && !(*mark).counts.only_open());
        assert_eq!(text(held), "\"held\"");
        life::release(all[500]);
        assert!((*mark).counts.only_open());
        life::exit(mark);
        life::exit(stranger);
    }
}

#[test]
fn stores_that_keep_identity_refuse_or_merge() {
    // SAFETY: regions are open until their exits.
    unsafe {
        let (outer, inner) = (life::create(), life::create());
        let cell = objects::boxed(outer, Raw::NIL).pointer().unwrap();
        let slot: *mut Raw = cell.add(1).cast();
        let v = objects::pair(inner, small(1), Raw::NIL);
        assert_eq!(barrier::store_as_is(cell, slot, small(5)), Ok(small(5)));
        assert_eq!(barrier::store_as_is(cell, slot, v), Err(Error::DiesFirst));
        assert_eq!(*slot, small(5));
        let frozen = Frozen::build(|r| r.boxed(Value::NIL));
        assert_eq!(barrier::store_merging(cell, slot, frozen.get().raw()), Err(Error::DiesFirst));
        assert_eq!(barrier::store_merging(cell, slot, v), Ok(v));
        assert_eq!((*slot, control::accounting(outer).repairs), (v, 0));
        assert_eq!(barrier::store_as_is(cell, slot, v), Ok(v));
        life::exit(inner);
        assert_eq!(text(*slot), "(1)");
        let theirs = frozen.get().raw().pointer().unwrap();
        assert_eq!(barrier::store_merging(theirs, theirs.add(1).cast(), v), Err(Error::Frozen));
        let mut outside = [objects::int(outer, 1).pointer().map_or(0, |p| *p), 0];
        let place = outside.as_mut_ptr();
        assert_eq!(barrier::store_as_is(place, place.add(1).cast(), v), Err(Error::OutsideRegion));
        life::exit(outer);
    }
}

#[test]
fn reserved_immediates_are_no_other_values() {
    let r = Region::new();
    for (word, name) in
        [(Raw::UNSPECIFIED, "#<unspecified>"), (Raw::EOF, "#<eof>"), (Raw::UNBOUND, "#<unbound>")]
    {
        // SAFETY: immediates are always alive.
        let v = unsafe { Value::from_raw(word) };
        assert_eq!((v.kind(), v.to_string()), (allod_region::Kind::Reserved, name.to_string()));
        assert!(!v.is_nil() && v == { v } && v != Value::NIL && v != Value::FALSE);
        let d = r.dict_from([(v, Value::TRUE), (Value::NIL, Value::FALSE)]);
        assert_eq!((d.get(v), d.len()), (Some(Value::TRUE), Some(2)));
    }
}
