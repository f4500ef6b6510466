use allod_region::types::{self, Type};

fn main() {
    let wild = Type { name: std::ptr::null(), ..Type::fixed(c"tame", 1, 0) };
    println!("{}", wild.name());
    types::register(&wild).unwrap();
}
