use std::cell::Cell;

fn main() {
    let finished = allod_frame::Arena::new().finish(|f| f.alloc(Cell::new(1)));
    std::thread::scope(|s| {
        s.spawn(|| finished.set(2));
    });
}
