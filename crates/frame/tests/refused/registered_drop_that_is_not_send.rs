use allod_frame::Arena;
use std::rc::Rc;

fn main() {
    Arena::new().frame(|f| {
        f.alloc_drop(Rc::new(1));
    });
}
