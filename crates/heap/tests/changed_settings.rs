//! Settings that change while the program runs, and what becomes of it.

use allod_heap::settings::{Error, TABLE, get, set};
use allod_heap::{free, malloc, sampling, stats};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Settings are the whole process's.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn name(setting: &allod_heap::settings::Setting) -> String {
    setting.name.trim_start_matches("ALLOD_").to_lowercase()
}

/// Whether something becomes true within a few seconds.
fn soon(mut is_true: impl FnMut() -> bool) -> bool {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(20) {
        if is_true() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

#[test]
fn every_setting_can_be_read_and_every_one_that_may_change_is_changed() {
    let _one = ONE_AT_A_TIME.lock().unwrap();
    for setting in TABLE {
        let name = name(setting);
        let before = get(&name);
        assert_eq!(before.is_err(), setting.is_text(), "{name}");
        let Ok(before) = before else { continue };
        assert_eq!(before, u64::from(setting.default), "{name}");
        let change = set(&name, 1);
        match name.as_str() {
            _ if setting.change.is_none() => assert_eq!(change, Err(Error::Fixed), "{name}"),
            "guard" if !sampling::guard_one_in(1) => assert_eq!(change, Err(Error::NotInThisBuild)),
            "profile_every" if !sampling::profile_start(1) => {
                assert_eq!(change, Err(Error::OutOfMemory));
            }
            _ => {
                assert_eq!((change, get(&name)), (Ok(()), Ok(1)), "{name}");
                let beyond = set(&name, u64::from(setting.max) + 1);
                assert_eq!(beyond, Err(Error::OutOfRange(setting.values)), "{name}");
                assert_eq!((set(&name, before), get(&name)), (Ok(()), Ok(before)), "{name}");
            }
        }
    }
}

#[test]
fn names_are_exact() {
    for wrong in ["", "ALLOD_GUARD", "Guard", "guard ", "guar", "profile-every", "ALLOD_", "\0"] {
        assert_eq!(get(wrong), Err(Error::Unknown), "{wrong:?}");
        assert_eq!(set(wrong, 0), Err(Error::Unknown), "{wrong:?}");
    }
    assert_eq!(get("profile"), Err(Error::NotANumber));
    assert_eq!(set("profile", 1), Err(Error::Fixed));
}

#[test]
#[cfg(not(feature = "hardened"))]
fn rates_of_samples_are_those_that_functions_set() {
    let _one = ONE_AT_A_TIME.lock().unwrap();
    assert!(sampling::guard_one_in(700));
    assert_eq!(get("guard"), Ok(700));
    assert!(sampling::profile_start(1 << 20));
    assert_eq!(get("profile_every"), Ok(1 << 20));
    set("profile_every", 4096).unwrap();
    sampling::profile_stop();
    assert_eq!(get("profile_every"), Ok(0));
    set("guard", 0).unwrap();
    assert_eq!(sampling::guarded_one_in(), 0);
}

/// True while there is a helper: the one thread in which all signals are blocked.
fn has_helper() -> bool {
    let blocks = |task: std::fs::DirEntry| {
        let status = std::fs::read_to_string(task.path().join("status")).unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigBlk:\t"));
        mask.is_some_and(|mask| mask != "0000000000000000")
    };
    std::fs::read_dir("/proc/self/task").unwrap().flatten().any(blocks)
}

#[test]
fn delay_and_helper_obey_at_once() {
    let _one = ONE_AT_A_TIME.lock().unwrap();
    const BYTES: usize = 64 << 20;
    set("purge_delay_ms", 3_600_000).unwrap();
    let kept = malloc(BYTES);
    let given: Vec<*mut u8> = (0..BYTES / 16_000).map(|_| malloc(16_000)).collect();
    for p in given {
        // SAFETY: ours, of this size, and freed once.
        unsafe {
            p.write_bytes(1, 16_000);
            free(p);
        }
    }
    let purged = || stats::snapshot().purged_bytes as usize;
    let before = purged();
    std::thread::sleep(Duration::from_millis(1500));
    assert!(purged() < before + BYTES / 2, "an hour is not over");
    set("purge_delay_ms", 0).unwrap();
    assert!(soon(|| purged() >= before + BYTES / 2), "not given back");

    assert!(has_helper());
    set("background", 0).unwrap();
    assert!(soon(|| !has_helper()), "the helper goes on");
    set("background", 1).unwrap();
    let mut blocks = Vec::new();
    assert!(soon(|| {
        blocks.push(malloc(100_000));
        has_helper()
    }));
    set("purge_delay_ms", 500).unwrap();
    for p in blocks.into_iter().chain([kept]) {
        // SAFETY: ours, freed once.
        unsafe { free(p) };
    }
}
