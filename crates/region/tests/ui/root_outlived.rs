use allod_region::Region;

fn main() {
    let root = {
        let r = Region::new();
        r.root(r.string("rooted"))
    };
    let v = root.get();
    drop(root);
    println!("{v}");
}
