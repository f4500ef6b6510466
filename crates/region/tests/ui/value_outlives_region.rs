use allod_region::{Region, Value};

fn escape<'a>() -> Value<'a> {
    let r = Region::new();
    r.string("gone")
}

fn main() {
    escape();
}
