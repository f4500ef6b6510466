use allod_region::Region;

fn main() {
    let r = Region::new();
    let tether = r.tether(r.string("tethered"));
    std::thread::spawn(move || println!("{}", tether.get()));
}
