use allod_frame::Arena;

fn main() {
    let (mut a, mut b) = (Arena::new(), Arena::new());
    a.frame(|f| {
        b.frame(|g| std::mem::swap(f, g));
    });
}
