use allod_frame::task;

fn main() {
    let _kept = task::keep(|f| f.alloc(&*f.alloc(1)));
}
