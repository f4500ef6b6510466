use allod_frame::Arena;

fn main() {
    Arena::new().frame(|f| {
        f.batch::<String>(2).fill_with(|i| i.to_string());
    });
}
