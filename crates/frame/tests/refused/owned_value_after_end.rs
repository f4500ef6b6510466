use allod_frame::OwnedFrame;

fn main() {
    let memory = OwnedFrame::new();
    let value = memory.frame().alloc(1);
    let arena = memory.end();
    *value += 1;
    drop(arena);
}
