use allod_frame::Arena;

fn main() {
    let mut arena = Arena::new();
    let mut escaped: Option<&mut u32> = None;
    arena.frame(|f| escaped = Some(f.alloc(1)));
    println!("{escaped:?}");
}
