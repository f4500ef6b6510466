//! The page of live counters: who makes the file is answered, for as long as it watches.

use allod_heap::page::{self, BYTES, COUNTER_WORDS, Counters, MAGIC, VERSION, word};
use std::fs::{File, OpenOptions, Permissions};
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// All tests watch this process, which has one page.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

struct Page {
    file: File,
    path: PathBuf,
}

impl Page {
    fn make(version: u64, rights: u32) -> Page {
        let path = PathBuf::from(page::name(std::process::id()).path().to_str().unwrap());
        let _ = std::fs::remove_file(&path);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create_new(true).mode(0o600).open(&path).unwrap();
        file.set_len(BYTES as u64).unwrap();
        file.set_permissions(Permissions::from_mode(rights)).unwrap();
        let page = Page { file, path };
        page.write(word::VERSION, version);
        page.write(word::MAGIC, MAGIC);
        page
    }

    fn read(&self, at: usize) -> u64 {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, at as u64 * 8).unwrap();
        u64::from_ne_bytes(bytes)
    }

    fn write(&self, at: usize, value: u64) {
        self.file.write_all_at(&value.to_ne_bytes(), at as u64 * 8).unwrap();
    }

    fn beat(&self) {
        self.write(word::BEAT, self.read(word::BEAT) + 1);
    }

    /// Beats until the word says what is wanted, for some seconds at most.
    fn waits_for(&self, at: usize, wanted: impl Fn(u64) -> bool) -> bool {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(10) {
            self.beat();
            if wanted(self.read(at)) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    fn counters(&self) -> Counters {
        loop {
            self.beat();
            let before = self.read(word::WRITTEN);
            let words: Vec<u64> =
                (0..COUNTER_WORDS).map(|i| self.read(word::COUNTERS + i)).collect();
            if before.is_multiple_of(2) && before == self.read(word::WRITTEN) {
                return Counters::from_words(words[..].try_into().unwrap());
            }
        }
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Blocks that are freed at the end; enough of them for a helper to come.
struct Blocks(Vec<*mut u8>);

impl Blocks {
    fn new(count: usize, size: usize) -> Blocks {
        Blocks((0..count).map(|_| allod_heap::malloc(size)).collect())
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        // SAFETY: allocated in `new`, and freed once.
        self.0.iter().for_each(|&block| unsafe { allod_heap::free(block) });
    }
}

/// More than there must be for a helper.
fn much() -> Blocks {
    let blocks = Blocks::new(3, 9 << 20);
    // The helper comes with a slow path that allocates.
    drop(Blocks::new(2000, 3000));
    blocks
}

#[test]
fn whoever_makes_a_page_is_answered_until_it_stops_to_beat() {
    let _one = ONE_AT_A_TIME.lock().unwrap();
    let _much = much();
    let _small = Blocks::new(1000, 100);
    let page = Page::make(VERSION, 0o600);
    assert!(page.waits_for(word::WRITTEN, |n| n >= 2), "no answer");
    assert_eq!(page.read(word::ANSWERED), VERSION);
    let seen = page.counters();
    let totals = seen.totals;
    assert!(totals.large_bytes >= 27 << 20 && totals.span_bytes > totals.large_bytes, "{totals:?}");
    // 100 bytes are in band B2.
    assert!(seen.bands[2].used_blocks >= 1000 && seen.bands[2].used_bytes >= 100_000, "{seen:?}");
    let me = std::process::id();
    let mine = seen.heaps.iter().find(|heap| heap.thread == u64::from(thread_number()));
    assert!(mine.is_some_and(|heap| heap.used_bytes >= 100_000 && heap.orphan == 0), "{seen:?}");
    assert!(seen.heap_count >= 1 && me > 0);

    let more = Blocks::new(1000, 100);
    let before = seen.taken_us;
    assert!(page.waits_for(word::COUNTERS, |taken| taken > before + 50_000), "only once");
    assert!(page.counters().bands[2].used_blocks >= 2000);
    drop(more);

    std::thread::sleep(Duration::from_secs(5));
    assert_eq!(page.read(word::LEFT), 1);
    assert!(!page.path.exists(), "a page that is left is removed");
    assert!(!maps().contains("allod-live"));
}

fn thread_number() -> u32 {
    // SAFETY: asks for a number.
    unsafe { libc::gettid() as u32 }
}

fn maps() -> String {
    std::fs::read_to_string("/proc/self/maps").unwrap()
}

#[test]
fn a_forked_child_does_not_have_its_parents_page() {
    let _one = ONE_AT_A_TIME.lock().unwrap();
    let _much = much();
    let page = Page::make(VERSION, 0o600);
    assert!(page.waits_for(word::WRITTEN, |n| n >= 2), "no answer");
    assert!(maps().contains("allod-live"));
    // SAFETY: the child only reads a file and leaves.
    let status = unsafe {
        let child = libc::fork();
        if child == 0 {
            let has = maps().contains("allod-live");
            libc::_exit(if has { 1 } else { 42 });
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        status
    };
    assert_eq!(libc::WEXITSTATUS(status), 42);
}

#[test]
fn a_page_that_others_could_write_to_is_not_used_nor_one_of_another_version() {
    let _one = ONE_AT_A_TIME.lock().unwrap();
    let _much = much();
    let page = Page::make(VERSION, 0o644);
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!((page.read(word::ANSWERED), page.read(word::WRITTEN)), (0, 0));
    drop(page);
    let page = Page::make(VERSION + 1, 0o600);
    assert!(page.waits_for(word::ANSWERED, |version| version == VERSION), "no answer");
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(page.read(word::WRITTEN), 0);
}
