use allod_region::{Frozen, Value};

fn main() {
    let frozen = Frozen::build(|_| Value::NIL);
    let tether = frozen.tether();
    std::thread::spawn(move || println!("{}", tether.get()));
}
