use allod_frame::task;

fn main() {
    drop(task::spawn(async {
        let kept = task::keep(|f| f.alloc(std::cell::Cell::new(std::ptr::null::<u8>())));
        std::future::ready(()).await;
        kept.set(std::ptr::null());
    }));
}
