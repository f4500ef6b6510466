use allod_frame::task;

async fn task() {
    let number = task::with(|f| f.alloc(1));
    std::future::ready(()).await;
    *number += 1;
}

fn main() {
    drop(task());
}
