use allod_region::{Region, Value};
use allod_region_derive::Trace;

// The spelling hides the word; the layout does not.
#[derive(Trace)]
#[repr(r#packed)]
struct Packed<'r> {
    value: Value<'r>,
    tag: u8,
}

fn main() {
    Region::new().alloc(Packed { value: Value::NIL, tag: 1 });
}
