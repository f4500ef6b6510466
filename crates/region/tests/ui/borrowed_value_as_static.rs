use allod_region::{Region, Value};

fn keep_for_ever(r: &Region) -> Value<'static> {
    r.string("not for ever")
}

fn main() {
    keep_for_ever(&Region::new());
}
