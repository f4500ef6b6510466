use allod_frame::Team;

fn main() {
    let mut team = Team::new();
    let escaped = team.frame(|workers| workers.with(|f| f.alloc(1)));
    *escaped += 1;
}
