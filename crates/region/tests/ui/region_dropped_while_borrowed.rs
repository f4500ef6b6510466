use allod_region::Region;

fn main() {
    let r = Region::new();
    let v = r.pair(r.int(1), r.int(2));
    drop(r);
    println!("{v}");
}
