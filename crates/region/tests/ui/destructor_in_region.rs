use allod_region::Region;
use allod_region_derive::Trace;

#[derive(Trace)]
struct Owner {
    text: String,
}

fn main() {
    Region::new().alloc(Owner { text: String::new() });
}
