use allod_frame::Arena;

fn main() {
    let mut arena = Arena::new();
    let first = arena.begin();
    let second = arena.begin();
    first.frame().alloc(1);
    second.frame().alloc(2);
}
