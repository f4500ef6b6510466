//! Wrong use is caught with a message: in debug builds and with the feature `validate`.
#![cfg(any(debug_assertions, feature = "validate"))]

use allod_region::{Control, Raw, barrier, dict, life, objects, transmigrate};

/// A region that is gone, and some that came after it.
fn gone() -> *mut Control {
    let r = life::create();
    // SAFETY: the region is this thread's.
    unsafe { life::exit(r) };
    r
}

/// Regions made and left: without care one of them would be in the same place as the one that is gone.
fn newer_regions() -> Vec<*mut Control> {
    (0..50).map(|_| life::create()).collect()
}

/// Wrong use, reported with the given words before harm is done.
macro_rules! caught {
    ($($name:ident: $words:literal $work:block)*) => { $(
        #[test]
        #[should_panic(expected = $words)]
        fn $name() {
            // SAFETY: wrong on purpose: checked builds report it before harm is done.
            unsafe { $work }
        }
    )* };
}

caught! {
    a_release_without_a_retain: "without its retain" { life::release(life::create()); }
    a_release_too_many_of_a_shared_region: "without its retain" {
        let r = life::create();
        life::share(r);
        life::retain(r);
        life::release(r);
        life::release(r);
        life::release(r);
        life::release(r);
    }
    an_untether_without_a_tether: "without its retain or tether" { life::untether(life::create()); }
    exit_twice: "exit twice" { life::exit(gone()); }
    exit_twice_with_a_reference_left: "exit twice" {
        let r = life::create();
        life::retain(r);
        life::exit(r);
        life::exit(r);
    }
    exit_twice_when_newer_regions_have_come: "exit twice" {
        let r = gone();
        newer_regions();
        life::exit(r);
    }
    exit_twice_after_a_thousand_others: "exit twice" {
        let r = gone();
        for _ in 0..1000 {
            life::exit(life::create());
        }
        life::exit(r);
    }
    exit_by_another_thread: "does not own" {
        let r = life::create() as usize;
        let other = std::thread::spawn(move || life::exit(r as *mut Control));
        std::panic::resume_unwind(other.join().unwrap_err());
    }
    a_tether_of_another_thread_without_share: "never shared" {
        let r = life::create() as usize;
        let other = std::thread::spawn(move || life::tether(r as *mut Control));
        std::panic::resume_unwind(other.join().unwrap_err());
    }
    a_retain_of_a_region_that_is_gone: "that is gone" { life::retain(gone()); }
    a_tether_of_a_region_that_is_gone: "that is gone" { life::tether(gone()); }
    allocation_in_a_region_that_is_gone: "not open any more" { objects::int(gone(), 1); }
    large_allocation_in_a_region_that_is_gone: "not open any more" {
        objects::array(gone(), 100_000, Raw::NIL);
    }
    allocation_in_a_region_that_is_gone_and_newer_ones_came: "not open any more" {
        let r = gone();
        newer_regions();
        objects::int(r, 1);
    }
    a_store_into_an_object_that_is_gone: "which is gone" {
        let r = life::create();
        let pair = objects::pair(r, Raw::NIL, Raw::NIL).pointer().unwrap();
        life::exit(r);
        let _ = barrier::store(pair, pair.cast(), Raw::TRUE);
    }
    a_store_into_a_dictionary_that_is_gone: "which is gone" {
        let r = life::create();
        let d = dict::new(r, 4).pointer().unwrap();
        life::exit(r);
        let _ = dict::set(d, Raw::TRUE, Raw::TRUE);
    }
    a_copy_to_a_region_that_is_gone: "not open any more" {
        let r = gone();
        let _ = transmigrate::copy(r, &mut [objects::float(life::create(), 1.0)]);
    }
    allocation_in_a_frozen_region: "frozen" {
        let r = life::create();
        life::retain(r);
        life::freeze(r);
        objects::int(r, 1);
    }
    sharing_a_merged_region: "merged" {
        let heir = life::create();
        let r = life::create_in(heir);
        life::merge(r, heir);
        life::share(r);
    }
    adopting_what_was_not_detached: "was not detached" { life::adopt(life::create()); }
}

#[test]
fn right_use_is_not_reported() {
    // SAFETY: right use.
    unsafe {
        for _ in 0..3000 {
            let r = life::create();
            life::retain(r);
            life::tether(r);
            life::exit(r);
            life::untether(r);
            objects::float(r, 1.0);
            life::release(r);
        }
    }
}
