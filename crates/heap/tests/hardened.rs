//! What the hardened build promises of blocks: `cargo test -p allod-heap --features hardened --test hardened`.
#![cfg(feature = "hardened")]

use allod_heap as heap;
use allod_heap::bounds::{Room, room_at};
use allod_heap::{Misuse, Origin};
use std::cell::RefCell;
use std::collections::HashMap;
use std::slice;

thread_local! {
    static FOUND: RefCell<Vec<(usize, Misuse)>> = const { RefCell::new(Vec::new()) };
}

/// What is found while `f` runs.
fn found(f: impl FnOnce()) -> Vec<(usize, Misuse)> {
    heap::set_misuse_handler(Some(|report| {
        FOUND.with_borrow_mut(|found| found.push((report.pointer as usize, report.what)));
    }));
    f();
    FOUND.take()
}

const SIZES: [usize; 9] = [1, 8, 15, 16, 100, 4096, 70_000, 262_144, 5_000_001];

#[test]
fn sizes_are_exact_and_new_blocks_are_zero() {
    for round in 0..3 {
        for size in SIZES {
            let p = heap::malloc(size);
            // SAFETY: a live block of that size.
            unsafe {
                assert_eq!(heap::usable_size(p), size);
                assert!(slice::from_raw_parts(p, size).iter().all(|&b| b == 0), "{size}, {round}");
                p.write_bytes(0xA5, size);
                heap::free(p);
            }
        }
    }
}

#[test]
fn a_byte_written_beyond_the_end_is_found_when_the_block_is_freed() {
    for size in SIZES.into_iter().filter(|&size| size < 100_000) {
        let p = heap::malloc(size);
        for beyond in 0..(16 - size % 16).min(8) {
            // SAFETY: the slack of a block may be written here, for nobody uses it. A resized block of the same
            // class stays where it is.
            let what = unsafe {
                let at = p.add(size + beyond);
                let kept = at.replace(b'A');
                let what = found(|| assert_eq!(heap::realloc(p, size), p));
                at.write(kept);
                what
            };
            assert_eq!(what, [(p as usize, Misuse::Overflow)], "{size} + {beyond}");
        }
        // SAFETY: a live block.
        assert_eq!(found(|| unsafe { heap::free(p) }), []);
    }
}

#[test]
fn a_byte_written_beside_a_large_block_is_found_when_it_is_freed() {
    let p = heap::malloc(5_000_001);
    // SAFETY: the slack and the gap of a block may be written here, for nobody uses them.
    unsafe {
        for at in [p.add(5_000_001), p.sub(1)] {
            let kept = at.replace(b'A');
            assert_eq!(found(|| heap::free(p)), [(p as usize, Misuse::Overflow)]);
            at.write(kept);
        }
        assert_eq!(found(|| heap::free(p)), []);
    }
}

#[test]
fn the_same_block_is_not_freed_twice_however_late() {
    for size in [8, 4096] {
        let p = heap::malloc(size);
        // SAFETY: misuse, which the handler is told.
        unsafe {
            heap::free(p);
            for _ in 0..1000 {
                heap::free(heap::malloc(size));
            }
            assert_eq!(found(|| heap::free(p)), [(p as usize, Misuse::DoubleFree)]);
        }
    }
}

/// Blocks of a size, `count` of them.
fn blocks(count: usize, size: usize) -> Vec<*mut u8> {
    (0..count).map(|_| heap::malloc(size)).collect()
}

fn free_all(blocks: &[*mut u8]) {
    // SAFETY: live blocks, each once.
    blocks.iter().for_each(|&p| unsafe { heap::free(p) });
}

/// Writes a byte into the middle of freed blocks, as far as there is no guard page now.
fn write_into(freed: &[*mut u8], size: usize) -> usize {
    let middles = freed.iter().map(|p| p.wrapping_add(size / 2));
    // The last page of each slab is one; slabs end where units do.
    let open = middles.filter(|&p| p as usize % (64 << 10) < 60 << 10);
    // SAFETY: misuse, of which the handler is told when the memory is handed out.
    open.map(|p| unsafe { p.write_volatile(b'A') }).count()
}

/// Takes blocks of a size until there is no freed one left, which are all zero, and returns how many had been written to.
fn find_written(count: usize, size: usize) -> usize {
    let mut again = Vec::new();
    let found = found(|| again = blocks(count, size));
    assert!(found.iter().all(|&(_, what)| what == Misuse::WrittenWhenFree), "{found:?}");
    for &p in &again {
        // SAFETY: a live block of that size.
        assert!(unsafe { slice::from_raw_parts(p, size) }.iter().all(|&b| b == 0));
    }
    free_all(&again);
    found.len()
}

#[test]
fn a_byte_written_to_a_freed_block_is_found_long_after() {
    // Those between them keep their slabs.
    let (stale, kept): (Vec<_>, Vec<_>) =
        blocks(400, 3000).chunks(2).map(|pair| (pair[0], pair[1])).unzip();
    free_all(&stale);
    for _ in 0..10 {
        free_all(&blocks(200, 3000));
    }
    let written = write_into(&stale, 3000);
    // First those that have left quarantine, then those that have been in it once more.
    let found = [find_written(4000, 3000), find_written(4000, 3000)];
    assert!(found[0] > 50, "{found:?}");
    assert_eq!(found[0] + found[1], written);
    free_all(&kept);
}

#[test]
fn what_is_written_to_a_freed_block_is_in_no_block_of_another_size() {
    let stale = blocks(600, 3000);
    free_all(&stale);
    // They take the place of the others in quarantine.
    free_all(&blocks(300, 2100));
    assert!(write_into(&stale, 3000) > 500);
    assert!(find_written(2000, 2100) > 0);
}

#[test]
fn pointers_into_blocks_are_no_blocks() {
    for size in SIZES.into_iter().filter(|&size| size > 16) {
        let p = heap::malloc(size);
        for offset in [1, 16] {
            let inside = p.wrapping_add(offset);
            // SAFETY: misuse, which the handler is told.
            let what = found(|| unsafe { heap::free(inside) });
            assert_eq!(what, [(inside as usize, Misuse::NotABlock)]);
        }
        // SAFETY: a live block.
        unsafe { heap::free(p) };
    }
}

#[test]
fn sizes_and_families_must_agree() {
    let p = heap::came_from(heap::malloc(100), Origin::New);
    // SAFETY: misuse, which the handler is told; at last a live block.
    unsafe {
        assert_eq!(
            found(|| heap::delete_sized(p, 101, Origin::New)),
            [(p as usize, Misuse::WrongSize(101))]
        );
        assert_eq!(
            found(|| heap::free_from(p, Origin::NewArray)),
            [(p as usize, Misuse::WrongFamily)]
        );
        assert_eq!(found(|| heap::delete_sized(p, 100, Origin::New)), []);
    }
}

#[test]
fn room_ends_where_the_block_does() {
    for size in SIZES {
        let p = heap::malloc(size);
        assert_eq!(room_at(p), Room::Bytes(size));
        assert_eq!(room_at(p.wrapping_add(size / 2)), Room::Bytes(size - size / 2));
        // SAFETY: a live block.
        unsafe { heap::free(p) };
        assert_eq!(room_at(p), Room::Dead, "{size}");
    }
    assert_eq!(room_at(b"not of the heap".as_ptr()), Room::Unknown);
}

#[test]
fn blocks_keep_their_contents_when_they_are_resized() {
    let sizes =
        [10, 20, 5000, 30, 200_000, 200_001, 900_000, 3_000_001, 8_000_100, 8_000_101, 100, 1];
    let mut p = heap::malloc(1);
    let mut kept = 1;
    // SAFETY: live blocks of the sizes asked for.
    unsafe {
        p.write(0);
        for size in sizes {
            p = heap::realloc(p, size);
            let bytes = slice::from_raw_parts_mut(p, size);
            let same = kept.min(size);
            assert!(bytes[..same].iter().enumerate().all(|(i, &b)| b == (i % 251) as u8), "{size}");
            bytes.iter_mut().enumerate().for_each(|(i, b)| *b = (i % 251) as u8);
            kept = size;
        }
        assert_eq!(found(|| heap::free(p)), []);
    }
}

#[test]
fn aligned_blocks_of_every_kind_come_and_go() {
    for align in (4..=22).map(|shift| 1usize << shift) {
        for size in [0, 1, align - 1, align, 100_000] {
            let p = heap::aligned_alloc(align, size);
            assert!(!p.is_null() && (p as usize).is_multiple_of(align), "{align}, {size}");
            // SAFETY: a live block of that size.
            unsafe {
                assert_eq!(heap::usable_size(p), size, "{align}");
                p.write_bytes(1, size);
                assert_eq!(found(|| heap::dealloc(p, align, size)), [], "{align}, {size}");
            }
        }
    }
}

#[test]
fn the_addresses_of_large_blocks_rest_before_they_are_used_again_and_read_as_zero() {
    let (mut freed, mut again) = (HashMap::new(), 0);
    for round in 0..4000 {
        let p = heap::malloc(150_001);
        // SAFETY: a live block of that size.
        unsafe {
            assert!(slice::from_raw_parts(p, 150_001).iter().step_by(997).all(|&b| b == 0));
            p.add(1000 + round).write(7);
            assert_eq!(found(|| heap::free(p)), []);
        }
        // A span's units are in no other.
        if let Some(before) = freed.insert(p as usize >> 16, round) {
            assert!(round - before > 500, "{before}, {round}");
            again += 1;
        }
        assert_eq!(room_at(p), Room::Dead);
    }
    assert!(again > 1000, "{again}");
}

#[test]
fn a_first_class_heap_leaves_nothing_behind() {
    let all = heap::Heap::new().unwrap();
    for _ in 0..1000 {
        // SAFETY: a live block.
        unsafe { all.malloc(100).write_bytes(7, 100) };
    }
    // SAFETY: nobody uses its blocks.
    unsafe { all.destroy() };
    let found = found(|| {
        for size in [40, 100, 1000].repeat(1000) {
            // SAFETY: a live block.
            unsafe { heap::free(heap::malloc(size)) };
        }
    });
    assert_eq!(found, []);
}
