use allod::Heap;

fn main() {
    let heap = Heap::new();
    let mut map = hashbrown::HashMap::new_in(&heap);
    map.insert(1, 2);
    std::thread::spawn(move || map.len());
}
