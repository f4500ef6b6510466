use allod_region::{Frozen, Region};

fn main() {
    let frozen = Frozen::build(|r| r.string("frozen"));
    let v = {
        let r = Region::new();
        r.keep(&frozen).unwrap()
    };
    println!("{v}");
}
