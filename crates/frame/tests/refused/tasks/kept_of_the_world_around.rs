use allod_frame::task;

fn main() {
    let mut outside = 1;
    let _kept = task::keep(|_| &mut outside);
}
