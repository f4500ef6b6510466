//! A streaming buffer: what is published is written.

use allod_models::progress::Progress;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

struct Buffer {
    progress: Progress,
    bytes: [UnsafeCell<u8>; 2],
}

// SAFETY: the writer writes behind the published part and readers read in it, which is what loom checks.
unsafe impl Sync for Buffer {}
// SAFETY: as for Sync.
unsafe impl Send for Buffer {}

#[test]
fn what_is_published_is_written() {
    loom::model(|| {
        let bytes = [0, 1].map(|_| UnsafeCell::new(0u8));
        let buffer = Arc::new(Buffer { progress: Progress::new(), bytes });
        let writer = {
            let buffer = buffer.clone();
            thread::spawn(move || {
                for i in 0..2 {
                    // SAFETY: behind the published part.
                    buffer.bytes[i].with_mut(|byte| unsafe { *byte = 7 });
                    buffer.progress.publish(i + 1);
                }
            })
        };
        for byte in &buffer.bytes[..buffer.progress.published()] {
            // SAFETY: in the published part.
            assert_eq!(byte.with(|byte| unsafe { *byte }), 7);
        }
        writer.join().unwrap();
    });
}
