use allocator_api2::{boxed::Box, vec::Vec};
use allod::Heap;

fn main() {
    let heap = Heap::new();
    let v = Vec::<u8, _>::new_in(&heap);
    let owner = Vec::<Box<u8, &Heap>, _>::new_in(Heap::new());
    drop(v);
    drop(heap);
    drop(owner);
}
