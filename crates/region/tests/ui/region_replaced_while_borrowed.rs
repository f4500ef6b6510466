use allod_region::Region;

fn main() {
    let mut r = Region::new();
    let v = r.string("of the first");
    r = Region::new();
    println!("{v} {r:?}");
}
