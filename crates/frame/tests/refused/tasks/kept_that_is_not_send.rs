use allod_frame::task;

fn to_another_thread<T: Send>(_: T) {}

fn main() {
    to_another_thread(task::in_arena(async {
        let kept = task::keep(|f| f.alloc(std::cell::Cell::new(std::ptr::null::<u8>())));
        std::future::ready(()).await;
        kept.set(std::ptr::null());
    }));
}
