use allod_frame::task::TaskArena;

fn main() {
    let mut arena = TaskArena::new();
    arena.enter(|| drop(arena));
}
