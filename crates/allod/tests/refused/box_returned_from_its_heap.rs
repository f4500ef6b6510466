use allocator_api2::boxed::Box;
use allod::Heap;

fn make<'h>() -> Box<u32, &'h Heap> {
    let heap = Heap::new();
    Box::new_in(1, &heap)
}

fn main() {
    make();
}
