use allod_frame::Arena;

fn main() {
    let mut arena = Arena::new();
    arena.frame(|f| {
        f.scope(|_s| {
            f.alloc(1);
        });
    });
}
