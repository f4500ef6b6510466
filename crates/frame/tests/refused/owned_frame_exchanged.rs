use allod_frame::OwnedFrame;

fn main() {
    let mut memory = OwnedFrame::new();
    let value = memory.frame().alloc(1);
    drop(std::mem::take(&mut memory));
    *value += 1;
}
