use allod_region::Value;
use allod_region_derive::Trace;

#[derive(Trace)]
#[repr(packed)]
struct Packed<'r> {
    value: Value<'r>,
    tag: u8,
}

#[derive(Trace)]
#[repr(packed(4), C)]
struct Less<'r>(Value<'r>, Value<'r>);

#[derive(Trace)]
#[repr(packed(8))]
struct Plain(u8, u16);

// These are not packed.
#[derive(Trace)]
#[repr(C, align(16))]
struct Wide<'r> {
    value: Value<'r>,
    tag: u8,
}

#[derive(Trace)]
#[repr(transparent)]
struct Same<'r>(Value<'r>);

fn main() {}
