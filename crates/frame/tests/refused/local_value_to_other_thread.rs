use allod_frame::Team;
use std::cell::Cell;

fn main() {
    let mut team = Team::new();
    team.frame(|workers| {
        std::thread::scope(|s| {
            let thread = s.spawn(|| workers.with(|f| &*f.alloc(Cell::new(1))));
            thread.join().unwrap().set(2);
        });
    });
}
