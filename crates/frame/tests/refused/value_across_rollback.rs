use allod_frame::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut guard = arena.begin();
    let checkpoint = guard.checkpoint();
    let value = guard.frame().alloc(1);
    guard.rollback(checkpoint);
    *value += 1;
}
