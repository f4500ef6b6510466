use allod_frame::task;

fn main() {
    task::with(|f| {
        f.alloc_drop(std::rc::Rc::new(1));
    });
}
