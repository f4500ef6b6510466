use allod_region::{Message, Value};

fn main() {
    let mut leaked = Value::NIL;
    let message = Message::build(|r| {
        leaked = r.string("sent");
        leaked
    });
    drop(message);
    println!("{leaked}");
}
