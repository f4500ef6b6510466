use allod_region::Region;

fn main() {
    let r = Region::new();
    std::thread::scope(|s| {
        s.spawn(|| println!("{}", r.int(1)));
    });
}
