use allod_frame::Arena;

fn main() {
    let mut arena = Arena::new();
    let sum: u32 = arena.frame(|f| f.alloc_slice_copy(&[1, 2]).iter().sum());
    assert_eq!(sum, 3);
}
