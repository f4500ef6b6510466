use allod_region::{Region, Value};
use allod_region_derive::Trace;

#[derive(Trace)]
#[repr(C, packed)]
struct Packed<'r> {
    tag: u8,
    value: Value<'r>,
}

fn main() {
    let r = Region::new();
    r.alloc(Packed { tag: 1, value: Value::NIL });
}
