use allod_region::Region;

fn main() {
    let r: &'static Region = Box::leak(Box::new(Region::new()));
    let v = r.string("here");
    std::thread::spawn(move || println!("{v}"));
}
