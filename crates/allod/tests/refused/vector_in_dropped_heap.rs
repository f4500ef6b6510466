use allocator_api2::vec::Vec;
use allod::Heap;

fn main() {
    let heap = Heap::new();
    let mut v = Vec::new_in(&heap);
    v.push(1);
    drop(heap);
    v.push(2);
}
