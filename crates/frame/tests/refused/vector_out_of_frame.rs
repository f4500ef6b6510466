use allocator_api2::vec::Vec;
use allod_frame::Arena;

fn main() {
    let mut arena = Arena::new();
    let escaped = arena.frame(|f| Vec::<u32, _>::new_in(&*f));
    println!("{}", escaped.len());
}
