use allod_frame::task;

fn main() {
    task::with(|outer| {
        let number = outer.alloc(1);
        let _kept = task::keep(|_| number);
    });
}
