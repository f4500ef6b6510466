use std::rc::Rc;

fn main() {
    let mut pool = allod_frame::Pool::new();
    pool.insert(Rc::new(1));
    std::thread::spawn(move || pool.len());
}
