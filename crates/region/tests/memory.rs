//! Out of memory is an error from every `try_` form and from every unchecked function, and nothing is left
//! half built. The test runs itself again in a process whose address space cannot grow.

use allod_region::{Error, Frozen, Message, Raw, Region, Slot, Value, barrier, life, objects};
use allod_region_derive::Trace;

const CHILD: &str = "TEST_WITHOUT_MEMORY";

#[derive(Trace)]
#[repr(C)]
struct Big<'r> {
    value: Slot<'r>,
    plain: [u64; 500],
}

/// Lets the process have no more writable memory. (A limit of the address space would not be enough: Allod
/// reserves addresses ahead.)
fn no_more_memory() {
    let limit = libc::rlimit { rlim_cur: 4096, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: a plain call.
    assert_eq!(unsafe { libc::setrlimit(libc::RLIMIT_DATA, &limit) }, 0);
}

/// Repeats until memory is out, and returns how often it went well.
fn until_out<T>(mut make: impl FnMut() -> Result<T, Error>) -> usize {
    for n in 0..100_000_000 {
        match make() {
            Ok(_) => {}
            Err(error) => {
                assert_eq!(error, Error::OutOfMemory);
                return n;
            }
        }
    }
    panic!("memory is never out");
}

fn without_memory() {
    let source = Region::new();
    let long = source.list((0..100_000).map(|i| source.boxed_int(i)));
    let big = source.array(1_000_000, Value::NIL);
    let message = Message::build(|r| r.list((0..1000).map(Value::int)));
    let text = "t".repeat(3_000_000);
    let entries: Vec<_> = (0..200_000).map(|i| (Value::int(i), Value::NIL)).collect();
    let floats = vec![1.0; 400_000];
    let captured = vec![Value::NIL; 400_000];
    let mut regions = Vec::with_capacity(1 << 20);
    // Room for the test's own small allocations.
    drop((0..2000).map(|_| vec![1u8; 500]).collect::<Vec<_>>());
    drop(Region::new());
    no_more_memory();

    let r = Region::new();
    let (cell, table) = (r.boxed(Value::TRUE), r.dict(1));
    // What was there before stays whole throughout.
    let kept = r.list([r.string("kept"), r.float(1.0)]);
    let whole = |r: &Region| {
        assert_eq!(kept.car().unwrap().as_str(), Some("kept"));
        assert_eq!(kept.cdr().unwrap().car().unwrap().as_float(), Some(1.0));
        // SAFETY: the value is alive.
        let home = unsafe { allod_region::region_of(kept.raw().0 as *const u8) };
        assert_eq!(home, r.control());
    };
    until_out(|| r.try_memory(1 << 20, 8).map(|_| ()));
    until_out(|| r.try_memory(4096, 4096).map(|_| ()));
    whole(&r);
    until_out(|| r.try_array(400_000, Value::NIL));
    until_out(|| r.try_string(&text));
    until_out(|| r.try_bytes(text.as_bytes()));
    until_out(|| r.try_list((0..400_000).map(Value::int)));
    until_out(|| r.try_list((0..400_000).map(Value::int).filter(|_| true)));
    until_out(|| r.try_array_from((0..400_000).map(Value::int)));
    until_out(|| r.try_tree(20, |i| Value::int(i as i64)));
    until_out(|| r.try_dict(200_000));
    until_out(|| r.try_dict_from(entries.iter().copied()));
    until_out(|| r.try_floats(&floats));
    until_out(|| r.try_closure(1, &captured));
    until_out(|| r.try_uninterned_symbol(&text));
    until_out(|| r.try_bring(long));
    until_out(|| r.bring_all([long, big]));
    until_out(|| r.try_pair(long, Value::NIL));
    until_out(|| r.try_boxed(long));
    until_out(|| r.try_root(big));
    until_out(|| r.try_tether(big));
    whole(&r);
    until_out(|| cell.set_box(long));
    until_out(|| table.set(Value::int(1), long));
    until_out(|| {
        let big = Big { plain: [7; 500], value: Slot::new(kept) };
        r.try_alloc(big).map(|b| assert_eq!((b.plain[499], b.value.get().same(kept)), (7, true)))
    });
    // Scopes and whole regions.
    until_out(|| r.try_scope(|inner| inner.try_bring(long).unwrap_or(Value::NIL)).and_then(some));
    until_out(|| r.try_splice(|inner| inner.try_bring(long).unwrap_or(Value::NIL)).and_then(some));
    until_out(|| Region::try_new().map(|r| regions.push(r)));
    until_out(|| r.try_child().map(|r| regions.push(r)));
    assert_eq!(Frozen::try_build(|_| Value::NIL).unwrap_err(), Error::OutOfMemory);
    assert_eq!(Message::try_build(|_| Value::NIL).unwrap_err(), Error::OutOfMemory);
    regions.clear();
    // The smallest, until the very last byte.
    until_out(|| r.try_pair(kept, kept));
    until_out(|| r.try_float(1.0));
    until_out(|| r.try_boxed_int(1));
    until_out(|| r.try_int(i64::MAX));
    assert!(r.try_int(1).is_ok(), "immediates need no memory");
    // A message is received without memory.
    assert_eq!(message.try_receive(&r).unwrap().iter().count(), 1000);
    whole(&r);
    // SAFETY: the regions are this thread's.
    unsafe {
        assert!(objects::float(r.control(), 1.0).is_empty());
        assert!(objects::mk_pair(r.control(), Raw::NIL, Raw::NIL).is_empty());
        assert!(allod_region::dict::new(r.control(), 10).is_empty());
        let mut roots = [long.raw()];
        let copied = allod_region::transmigrate::copy(r.control(), &mut roots);
        assert_eq!((copied, roots), (Err(Error::OutOfMemory), [long.raw()]));
        // A failed exit leaves the region open.
        let few = life::create_in(source.control());
        if !few.is_null() {
            let mut roots = [objects::int(few, 5)];
            let left = barrier::exit_with(few, r.control(), &mut roots);
            assert_eq!(left, Err(Error::OutOfMemory));
            life::exit(few);
        }
    }
    assert_eq!(long.iter().map(|v| v.as_int().unwrap()).sum::<i64>(), 4_999_950_000);
    drop(r);
    // What was given back can be had again.
    let again = Region::new();
    assert!(again.try_pair(Value::NIL, Value::NIL).is_ok());
    println!("all refused");
}

/// Nil stands for a failure inside.
fn some(v: Value<'_>) -> Result<(), Error> {
    if v.is_nil() { Err(Error::OutOfMemory) } else { Ok(()) }
}

#[test]
fn every_constructor_reports_that_memory_is_out_and_leaves_nothing_half_built() {
    if std::env::var_os(CHILD).is_some() {
        return without_memory();
    }
    let me = std::env::current_exe().unwrap();
    let name = "every_constructor_reports_that_memory_is_out_and_leaves_nothing_half_built";
    let mut child = std::process::Command::new(me);
    let out = child.args([name, "--exact", "--nocapture"]).env(CHILD, "1").output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout) + String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success() && said.contains("all refused"), "{said}");
}
