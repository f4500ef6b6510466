use allod_frame::Arena;

fn main() {
    Arena::new().finish(|f| {
        let number = &*f.alloc(1);
        f.alloc(number)
    });
}
