use std::rc::Rc;

fn main() {
    let pool = allod_frame::SharedPool::new(2);
    std::thread::scope(|s| {
        s.spawn(|| pool.insert(Rc::new(1)));
    });
}
