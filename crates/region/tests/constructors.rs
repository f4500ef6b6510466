//! Constructors make the same objects as typed allocation does.

use allod_region::{Control, Raw, Region, Value, life, objects};

/// Both ways of making an object, in memory that was full of other bytes before.
unsafe fn both(
    typed: impl Fn(*mut Control) -> Raw,
    constructed: impl Fn(*mut Control) -> Raw,
) -> (String, String) {
    let print = |make: &dyn Fn(*mut Control) -> Raw| {
        let dirty = life::create();
        // SAFETY: the region is open until its exit; the value is printed before.
        unsafe {
            objects::bytes(dirty, &[0xFF; 480]);
            life::exit(dirty);
            let r = life::create();
            let text = Value::from_raw(make(r)).to_string();
            life::exit(r);
            text
        }
    };
    (print(&typed), print(&constructed))
}

#[test]
fn typed_objects_and_constructed_ones_are_equal() {
    let small = Raw::small_wrapping(7);
    let captured = [small, Raw::NIL];
    // SAFETY: the regions are open.
    unsafe {
        let pairs = [
            both(|r| objects::int(r, i64::MIN), |r| objects::mk_int(r, i64::MIN)),
            both(|r| objects::float(r, -0.5), |r| objects::mk_float(r, -0.5)),
            both(|r| objects::pair(r, small, Raw::NIL), |r| objects::mk_pair(r, small, Raw::NIL)),
            both(|r| objects::boxed(r, small), |r| objects::mk_box(r, small)),
            both(|r| objects::array(r, 3, small), |r| objects::mk_array(r, 3, small)),
            both(|r| objects::string(r, "nine byte"), |r| objects::mk_string(r, "nine byte")),
            both(|r| objects::string(r, ""), |r| objects::mk_string(r, "")),
            both(|r| objects::bytes(r, &[1, 2, 3]), |r| objects::mk_bytes(r, &[1, 2, 3])),
            both(|r| objects::closure(r, 64, &captured), |r| objects::mk_closure(r, 64, &captured)),
            both(|r| allod_region::dict::new(r, 4), |r| objects::mk_dict(r, 4)),
            both(|_| Raw::char('ä'), |_| objects::mk_char('ä')),
        ];
        for (typed, constructed) in pairs {
            assert_eq!(typed, constructed);
        }
    }
}

#[test]
fn no_old_bytes_follow_a_text() {
    let dirty = Region::new();
    dirty.bytes(&[0xFF; 400]);
    drop(dirty);
    let r = Region::new();
    // SAFETY: the region is open; texts are followed by zeroes up to a whole word.
    unsafe {
        for v in [
            objects::mk_string(r.control(), "abc"),
            objects::mk_bytes(r.control(), b"abc"),
            objects::string(r.control(), "abc"),
        ] {
            let word = *v.pointer().unwrap().add(1);
            assert_eq!(word, u64::from_le_bytes(*b"abc\0\0\0\0\0"));
        }
    }
}

#[test]
fn a_thousand_regions_open_at_once_are_each_their_own() {
    for _ in 0..3 {
        let regions: Vec<Region> = (0..1000).map(|_| Region::new()).collect();
        let ints: Vec<Value<'_>> =
            regions.iter().enumerate().map(|(i, r)| r.boxed_int(i as i64)).collect();
        for (i, (r, v)) in regions.iter().zip(&ints).enumerate() {
            assert_eq!(v.as_int(), Some(i as i64));
            // SAFETY: the value is alive.
            let home = unsafe { allod_region::region_of(v.raw().pointer().unwrap().cast()) };
            assert_eq!(home, r.control());
        }
        // Every other first, so that blocks go back in another order than they came.
        let (even, odd): (Vec<_>, Vec<_>) =
            regions.into_iter().enumerate().partition(|(i, _)| i % 2 == 0);
        drop(even);
        drop(odd);
    }
}
