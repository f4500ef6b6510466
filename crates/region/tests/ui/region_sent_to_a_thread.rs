use allod_region::Region;

fn main() {
    let r = Region::new();
    std::thread::spawn(move || drop(r));
}
