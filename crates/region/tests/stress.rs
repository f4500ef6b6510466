//! Threads that share frozen regions, tether them, send each other regions, intern symbols and come and
//! go. Run by `cargo test`, and by `.ci/run` under ThreadSanitizer, which sees only what is compiled for
//! it: so the threads are the C library's and meet by atomics of this file, and there is no test harness,
//! because the standard library's threads, locks and channels would be reported.

use allod_region::{Frozen, Message, Region, Value};
use std::ffi::c_void;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::AcqRel, Ordering::Relaxed};

const ROUNDS: usize = if cfg!(debug_assertions) { 2_000 } else { 20_000 };
const MAILBOXES: usize = 16;

/// What threads leave for each other.
enum Mail {
    Region(Message, usize),
    Shared(Frozen, usize),
}

type Mailbox = AtomicPtr<Mail>;

fn swap(mailbox: &Mailbox, mail: Option<Mail>) -> Option<Mail> {
    let new = mail.map_or(std::ptr::null_mut(), |m| Box::into_raw(Box::new(m)));
    let old = mailbox.swap(new, AcqRel);
    // SAFETY: whoever takes a letter out of a box owns it.
    (!old.is_null()).then(|| *unsafe { Box::from_raw(old) })
}

fn text(i: usize) -> String {
    format!("entry {}", i % 97)
}

/// A value that can be checked wherever it arrives.
fn make<'r>(r: &'r Region, i: usize) -> Value<'r> {
    let d = r.dict(0);
    d.set(Value::symbol(&text(i)), r.string(&text(i))).unwrap();
    let numbers = r.list((0..i % 50).map(|n| r.boxed_int((n * i) as i64)));
    r.array_from([r.int(i as i64), d, numbers, r.bytes(&vec![i as u8; i % 3000])])
}

fn check(v: Value<'_>, i: usize) {
    assert_eq!(v.at(0).unwrap().as_int(), Some(i as i64));
    let found = v.at(1).unwrap().get(Value::symbol(&text(i))).unwrap();
    assert_eq!(found.as_str(), Some(&text(i)[..]));
    let numbers = v.at(2).unwrap().iter().map(|n| n.as_int().unwrap());
    assert!(numbers.eq((0..i % 50).map(|n| (n * i) as i64)));
    assert!(v.at(3).unwrap().as_bytes().unwrap().iter().all(|b| *b == i as u8));
}

fn work(me: usize) {
    let mut state = me as u64 + 1;
    let mut random = move |n: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % n
    };
    let mut held: Vec<(Frozen, usize)> = Vec::new();
    let mut home = Region::new();
    for round in 0..ROUNDS {
        let i = random(1000);
        let mail = match random(3) {
            0 => Some(Mail::Region(Message::build(|r| make(r, i)), i)),
            1 => Some(Mail::Shared(Frozen::build(|r| make(r, i)), i)),
            _ => None,
        };
        match swap(&BOXES[random(MAILBOXES)], mail) {
            Some(Mail::Region(m, i)) if random(2) == 0 => {
                let v = m.receive(&home);
                check(v, i);
            }
            Some(Mail::Region(m, i)) => {
                // A stage of a pipeline: on to the next thread.
                let m = m.then(|r, v| {
                    check(v, i);
                    r.array_from((0..4).map(|at| v.at(at).unwrap()))
                });
                drop(swap(&BOXES[random(MAILBOXES)], Some(Mail::Region(m, i))));
            }
            Some(Mail::Shared(f, i)) => {
                let tether = f.tether();
                drop(swap(&BOXES[random(MAILBOXES)], Some(Mail::Shared(f.clone(), i))));
                let kept = home.keep(&f).unwrap();
                held.push((f, i));
                check(tether.get(), i);
                check(home.pair(kept, kept).car().unwrap(), i);
                check(home.bring(tether.get()), i);
                assert!(tether.get().set_at(0, Value::NIL).is_err());
            }
            None => {}
        }
        if held.len() > 20 {
            let (f, i) = held.swap_remove(random(20));
            check(f.get(), i);
        }
        if round % 50 == 0 {
            home = Region::new();
        }
    }
}

static BOXES: [Mailbox; MAILBOXES] = [const { Mailbox::new(std::ptr::null_mut()) }; MAILBOXES];
static ENDED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn worker(me: *mut c_void) -> *mut c_void {
    work(me as usize);
    ENDED.fetch_add(1, Relaxed);
    me
}

/// Leaves something behind and ends before it is used.
extern "C" fn short(n: *mut c_void) -> *mut c_void {
    let n = n as usize;
    drop(swap(&BOXES[n % MAILBOXES], Some(Mail::Shared(Frozen::build(|r| make(r, n)), n))));
    std::ptr::null_mut()
}

fn start(run: extern "C" fn(*mut c_void) -> *mut c_void, argument: usize) -> libc::pthread_t {
    let mut thread = 0;
    // SAFETY: the function takes any argument.
    let failed = unsafe {
        libc::pthread_create(&mut thread, std::ptr::null(), run, argument as *mut c_void)
    };
    assert_eq!(failed, 0);
    thread
}

fn join(thread: libc::pthread_t) {
    // SAFETY: each thread is joined once.
    assert_eq!(unsafe { libc::pthread_join(thread, std::ptr::null_mut()) }, 0);
}

fn main() {
    let workers = [0, 1, 2, 3].map(|me| start(worker, me));
    let mut n = 0;
    while ENDED.load(Relaxed) < workers.len() {
        [n, n + 1, n + 2, n + 3].map(|n| start(short, n)).into_iter().for_each(join);
        n += 4;
        // SAFETY: sleeps.
        unsafe { libc::usleep(1000) };
    }
    workers.into_iter().for_each(join);
    BOXES.iter().for_each(|b| drop(swap(b, None)));
    println!("stress: {} threads, {ROUNDS} rounds each, {n} short threads", workers.len());
}
