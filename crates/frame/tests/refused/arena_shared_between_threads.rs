use allod_frame::Arena;

fn main() {
    let arena = Arena::new();
    std::thread::scope(|s| {
        s.spawn(|| arena.reserved());
    });
}
