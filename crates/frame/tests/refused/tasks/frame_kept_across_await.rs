use allod_frame::{Frame, task};

fn main() {
    let mut out: Option<&Frame<'_>> = None;
    task::with(|f| out = Some(f));
}
