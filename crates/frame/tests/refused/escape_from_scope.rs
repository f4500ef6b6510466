use allod_frame::Arena;

fn main() {
    let mut arena = Arena::new();
    arena.frame(|f| {
        let value: &mut u32 = f.scope(|s| s.alloc(1));
        *value += 1;
    });
}
