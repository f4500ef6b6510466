use allod_region_derive::Trace;

#[derive(Trace)]
enum Either {
    Left(u8),
    Right(u16),
}

fn main() {}
