//! The state of the heap as JSON says what the snapshot says.

use allod_heap::stats;
use serde_json::Value;

#[test]
fn json_says_what_the_snapshot_says() {
    let large = allod_heap::malloc(3 << 20);
    let small: Vec<*mut u8> = (0..1000).map(|_| allod_heap::malloc(200)).collect();
    let mut text = String::new();
    stats::print_json(&mut text).unwrap();
    let now = stats::snapshot();
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(text.lines().count(), 1);
    assert_eq!(json["process"], std::process::id());
    for (name, value) in [
        ("small_bytes", now.small_bytes),
        ("cached_bytes", now.cached_bytes),
        ("slab_free_bytes", now.slab_free_bytes),
        ("large_bytes", now.large_bytes),
        ("span_bytes", now.span_bytes),
        ("peak_span_bytes", now.peak_span_bytes),
        ("thread_heaps", now.thread_heaps),
    ] {
        assert_eq!(json[name], value, "{name}");
    }
    let sum = |list: &str, field: &str| -> u64 {
        json[list].as_array().unwrap().iter().map(|entry| entry[field].as_u64().unwrap()).sum()
    };
    assert_eq!(sum("heaps", "used_bytes"), now.small_bytes as u64);
    assert_eq!(sum("classes", "cached"), now.classes.iter().map(|c| c.cached as u64).sum::<u64>());
    let classes = json["classes"].as_array().unwrap();
    let class = classes.iter().find(|class| class["size"] == 208).expect("blocks of 200 bytes");
    assert!(class["in_use"].as_u64().unwrap() >= 1000);
    for p in small.into_iter().chain([large]) {
        // SAFETY: allocated above.
        unsafe { allod_heap::free(p) };
    }
}
