use allod_region_derive::Trace;

#[derive(Trace)]
struct Borrower<'r> {
    text: &'r str,
}

fn main() {}
