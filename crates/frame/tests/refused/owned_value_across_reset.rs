use allod_frame::OwnedFrame;

fn main() {
    let mut memory = OwnedFrame::new();
    let value = memory.frame().alloc(1);
    memory.reset();
    *value += 1;
}
