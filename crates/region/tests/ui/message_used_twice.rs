use allod_region::{Message, Region};

fn main() {
    let here = Region::new();
    let message = Message::build(|r| r.string("once"));
    message.receive(&here);
    message.receive(&here);
}
