use allod_region::Frozen;

fn main() {
    let frozen = Frozen::build(|r| r.string("frozen"));
    let v = frozen.get();
    drop(frozen);
    println!("{v}");
}
