//! A struct's values are copied into its region, so they live as long as that, not for ever.
use allod_region::{Region, Value};
use allod_region_derive::Trace;

#[derive(Trace)]
struct Plain {
    value: Value<'static>,
}

#[derive(Trace)]
struct Longer<'r> {
    own: Value<'r>,
    value: Value<'static>,
}

fn main() {
    let leaked: &'static Region = Box::leak(Box::new(Region::new()));
    let r = Region::new();
    let object = r.alloc(Plain { value: leaked.string("copied into r") });
    let kept: Value<'static> = object.value;
    drop(r);
    println!("{kept}");
}
