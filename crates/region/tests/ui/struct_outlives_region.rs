use allod_region::{Region, Slot, Value};
use allod_region_derive::Trace;

#[derive(Trace)]
struct Node<'r> {
    next: Slot<'r>,
}

fn main() {
    let node = {
        let r = Region::new();
        r.alloc(Node { next: Slot::new(Value::NIL) })
    };
    println!("{}", node.next.get());
}
