use allod_frame::Arena;

fn main() {
    let mut arena = Arena::new();
    let guard = arena.begin();
    let value = guard.frame().alloc(1);
    guard.end();
    *value += 1;
}
