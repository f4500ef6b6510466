use allod_region::Region;

fn main() {
    let r = Region::new();
    let root = r.root(r.string("rooted"));
    std::thread::spawn(move || println!("{}", root.get()));
}
