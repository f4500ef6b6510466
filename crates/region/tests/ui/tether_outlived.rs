use allod_region::{Region, Value};

fn main() {
    let r = Region::new();
    let tether = r.tether(r.string("pinned"));
    let v: Value<'_> = tether.get();
    drop(tether);
    println!("{v}");
}
