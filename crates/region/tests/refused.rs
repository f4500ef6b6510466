//! A move or a copy that runs out of memory halfway loses nothing: the source is as it was, byte by byte.
//!
//! Alone in its process, whose writable memory it limits.

use allod_region::value::{forwarded, is_header};
use allod_region::{Control, Raw, barrier, batch, control, life, objects, transmigrate, types};
use std::collections::HashMap;

fn small(i: usize) -> Raw {
    Raw::small_wrapping(i as i64)
}

/// Lists up and down, a tree, objects without slots, a large array, a cycle, and values of a shared
/// region that the first one keeps.
fn build(r: *mut Control, shared: *mut Control) -> Raw {
    // SAFETY: both regions are open and this thread's; `r` keeps `shared`.
    unsafe {
        let up = batch::list(r, 100_000, small);
        let down = (0..100_000).fold(Raw::NIL, |next, i| objects::pair(r, small(i), next));
        let tree = batch::tree(r, 16, small);
        let numbers =
            (0..20_000).fold(down, |next, i| objects::pair(r, objects::float(r, i as f64), next));
        let empty = batch::array(r, 0, small);
        let other = batch::array(shared, 3000, |i| objects::pair(shared, small(i), Raw::NIL));
        let large = batch::array(r, 50_000, |i| match i % 3 {
            0 => objects::pair(r, empty, up),
            1 => objects::string(r, "a text that is copied"),
            _ => other,
        });
        let last = objects::pair(r, tree, Raw::NIL);
        let root = batch::array(r, 5, |i| [up, numbers, last, large, other][i]);
        *last.as_pair().unwrap().add(1) = root.0;
        root
    }
}

/// Every object that the root reaches: where it is and its words.
fn snapshot(root: Raw) -> HashMap<u64, Vec<u64>> {
    let mut all = HashMap::new();
    let mut todo = vec![root];
    while let Some(v) = todo.pop() {
        if all.contains_key(&v.0) {
            continue;
        }
        // SAFETY: the structure is alive.
        unsafe {
            let Some((p, header)) = v.object_and_header() else { continue };
            assert!(forwarded(*p).is_none(), "a forwarding address was left behind");
            assert!(v.is_pair() || is_header(*p));
            let words = types::object_bytes(p, header) / 8;
            all.insert(v.0, std::slice::from_raw_parts(p, words).to_vec());
            types::each_slot(p, header, &mut |slot| todo.push(*slot));
        }
    }
    all
}

/// Bytes of writable memory that the process has mapped.
fn writable() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|l| l.starts_with("VmData")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

fn limit(bytes: u64) {
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: the record is valid.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_DATA, &limit) }, 0);
}

/// Does `work` with `steps` MiB of memory and what the heap cannot hand out in blocks of 16 KiB and more. All
/// else is taken while it works, also what the heap opened since the last time.
fn with_little_memory<T>(steps: usize, work: impl FnOnce() -> T) -> T {
    let mut taken = Vec::with_capacity(1 << 16);
    // The heap may have memory open for which it has no span records yet: it needs room for these.
    limit(writable() + (1 << 20));
    for size in [1 << 20, 1 << 18, 1 << 16, 1 << 14] {
        while taken.len() < taken.capacity() {
            let block = allod_heap::malloc(size);
            if block.is_null() {
                break;
            }
            taken.push(block);
        }
    }
    limit(writable() + ((steps as u64) << 20));
    let done = work();
    limit(libc::RLIM_INFINITY);
    for block in taken {
        // SAFETY: the block came from `malloc` above and is freed once.
        unsafe { allod_heap::free(block) };
    }
    done
}

/// Moves or copies with ever more memory until it succeeds; how often it was refused.
unsafe fn until_done(source: *mut Control, root: Raw, moving: bool) -> usize {
    let whole = snapshot(root);
    let mut refused = 0;
    // SAFETY: regions are open until their exits; the source is used only while it is whole.
    unsafe {
        loop {
            let dest = life::create();
            let mut roots = [root, Raw::NIL, root];
            let done = with_little_memory(refused, || {
                if moving {
                    transmigrate::take(dest, source, &mut roots)
                } else {
                    transmigrate::copy(dest, &mut roots)
                }
            });
            if done.is_err() {
                refused += 1;
                assert_eq!(roots, [root, Raw::NIL, root]);
            }
            if done.is_err() || !moving {
                assert!(snapshot(root) == whole, "the source has changed");
            }
            if done.is_ok() {
                assert_eq!(roots[0], roots[2]);
                assert_eq!(snapshot(roots[0]).len(), whole.len());
            }
            life::exit(dest);
            if done.is_ok() {
                return refused;
            }
        }
    }
}

/// Moves part of a structure, then all of it with ever more memory until that succeeds; how often it was
/// refused.
unsafe fn moved_before(source: *mut Control, root: Raw) -> usize {
    // SAFETY: the caller's structure; what was moved is used where it is.
    unsafe {
        let dest = life::create();
        let mut first = [*root.pointer().unwrap().add(1).cast::<Raw>()];
        transmigrate::take(dest, source, &mut first).unwrap();
        let whole = snapshot(first[0]);
        let mut refused = 0;
        loop {
            let mut roots = [root];
            let done = with_little_memory(refused, || transmigrate::take(dest, source, &mut roots));
            assert!(snapshot(first[0]) == whole, "what was moved before has changed");
            if done.is_ok() {
                assert_eq!(*roots[0].pointer().unwrap().add(1).cast::<Raw>(), first[0]);
                life::exit(dest);
                return refused;
            }
            refused += 1;
        }
    }
}

/// Evacuates with ever more memory until it succeeds; how often it was refused.
unsafe fn evacuated(r: *mut Control, root: Raw) -> usize {
    let whole = snapshot(root);
    let mut refused = 0;
    // SAFETY: the region is open, and used only while it is whole.
    unsafe {
        let before = control::accounting(r);
        loop {
            let mut roots = [root, root];
            let first = roots.as_mut_ptr();
            let done = with_little_memory(refused, || {
                barrier::evacuate(r, |each| (0..2).for_each(|i| each(first.add(i))))
            });
            if done.is_ok() {
                assert!(roots[0] == roots[1] && roots[0] != root);
                assert_eq!(snapshot(roots[0]).len(), whole.len());
                return refused;
            }
            refused += 1;
            assert_eq!((roots, control::accounting(r)), ([root, root], before));
            assert!(snapshot(root) == whole, "the region has changed");
        }
    }
}

#[test]
fn what_could_not_be_moved_or_copied_is_as_it_was() {
    // SAFETY: both regions are open until their exits.
    unsafe {
        let (source, shared) = (life::create(), life::create());
        assert!(life::keep(source, shared));
        life::share(shared);
        let root = build(source, shared);
        for moving in [false, true] {
            let refused = until_done(source, root, moving);
            // Otherwise the limit did not bite and nothing was tested.
            assert!(refused >= 3, "{refused}");
        }
        life::exit(source);
        let source = life::create();
        assert!(life::keep(source, shared));
        let refused = moved_before(source, build(source, shared));
        assert!(refused >= 3, "{refused}");
        life::exit(source);
        let source = life::create();
        assert!(life::keep(source, shared));
        let refused = evacuated(source, build(source, shared));
        assert!(refused >= 3, "{refused}");
        life::exit(source);
        life::exit(shared);
    }
}
