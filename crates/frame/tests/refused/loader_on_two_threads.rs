fn main() {
    let (mut loader, _asset) = allod_frame::stream(10).unwrap();
    std::thread::scope(|s| {
        s.spawn(|| loader.append(b"a"));
        s.spawn(|| loader.append(b"b"));
    });
}
