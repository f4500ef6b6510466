use allod_region::{Region, Value};

fn main() {
    let r = Region::new();
    let mut leaked = Value::NIL;
    r.splice(|inner| {
        leaked = inner.string("inner");
        Value::NIL
    });
    println!("{leaked}");
}
