use allod_frame::Arena;

fn main() {
    Arena::new().frame(|f| {
        std::thread::scope(|s| {
            s.spawn(|| f.alloc(1));
        });
    });
}
