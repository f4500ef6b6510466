use allod_frame::Team;

fn main() {
    let mut team = Team::new();
    team.frame(|workers| {
        std::thread::spawn(move || workers.with(|f| *f.alloc(1)));
    });
}
