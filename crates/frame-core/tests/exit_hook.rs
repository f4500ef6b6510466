//! The exit hook of threads is registered with no lock held: the C library may call back meanwhile.

use allod_frame_core::thread;
use core::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

/// The C library is to call back.
static CALLS_BACK: AtomicBool = AtomicBool::new(false);
static CALLED_BACK: AtomicUsize = AtomicUsize::new(0);

type Create = unsafe extern "C" fn(*mut libc::pthread_key_t, *mut c_void) -> c_int;

/// In place of the C library's: calls back into frames, as one that allocates here may.
///
/// # Safety
/// As for the C library's function, which does the work.
#[unsafe(no_mangle)]
unsafe extern "C" fn pthread_key_create(key: *mut libc::pthread_key_t, run: *mut c_void) -> c_int {
    if CALLS_BACK.swap(false, SeqCst) {
        thread::index().unwrap();
        drop(thread::Taken::take().unwrap());
        CALLED_BACK.fetch_add(1, SeqCst);
    }
    // SAFETY: the function of this name that comes next has this type.
    unsafe {
        let create = libc::dlsym(libc::RTLD_NEXT, c"pthread_key_create".as_ptr());
        core::mem::transmute::<*mut c_void, Create>(create)(key, run)
    }
}

#[test]
fn a_c_library_that_calls_back_from_the_registration_finds_frames_at_work() {
    // The heap has registered its own hook.
    // SAFETY: freed once. The alarm ends a test that waits for itself.
    unsafe {
        allod_heap::free(allod_heap::malloc(1));
        libc::alarm(20);
    }
    CALLS_BACK.store(true, SeqCst);
    let first = thread::index().unwrap();
    assert_eq!(CALLED_BACK.load(SeqCst), 1, "the registration was seen");
    assert_eq!(thread::index().unwrap(), first);
    let other = std::thread::spawn(|| thread::index().unwrap()).join().unwrap();
    assert_ne!(other, first);
}
