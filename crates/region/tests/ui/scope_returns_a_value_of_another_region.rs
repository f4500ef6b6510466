use allod_region::Region;

fn main() {
    let outer = Region::new();
    let v = {
        let other = Region::new();
        let text = other.string("of another region");
        outer.scope(|_| text)
    };
    println!("{v}");
}
