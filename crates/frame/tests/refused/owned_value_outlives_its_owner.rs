use allod_frame::OwnedFrame;

struct Document<'a> {
    title: &'a str,
    memory: OwnedFrame,
}

fn main() {
    let memory = OwnedFrame::new();
    let title = memory.frame().alloc_str("title");
    let document = Document { title, memory };
    assert_eq!(document.title.len(), 5);
    drop(document.memory);
}
