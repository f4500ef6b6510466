use allod_frame::task::TaskArena;

fn main() {
    let mut arena = TaskArena::new();
    std::thread::scope(|s| {
        s.spawn(|| arena.enter(|| ()));
        s.spawn(|| arena.enter(|| ()));
    });
}
