use allod_frame::Arena;

fn main() {
    Arena::new().frame(|f| {
        f.alloc(String::from("nobody drops me"));
    });
}
