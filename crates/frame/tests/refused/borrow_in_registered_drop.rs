use allod_frame::Arena;

struct Loud<'a>(&'a mut u32);

impl Drop for Loud<'_> {
    fn drop(&mut self) {
        println!("{}", self.0);
    }
}

fn main() {
    Arena::new().frame(|f| {
        let number = f.alloc(1);
        f.alloc_drop(Loud(number));
    });
}
