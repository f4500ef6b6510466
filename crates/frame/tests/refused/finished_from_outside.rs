//! A finished frame's result lies in the frame: what is borrowed from outside would be outlived.
use allod_frame::{Arena, Finished};

fn outlives_its_value() -> Finished<[u32]> {
    let mut outside = vec![5; 8];
    let short: &mut [u32] = &mut outside;
    Arena::new().finish(move |_| short)
}

fn main() {
    println!("{:?}", &*outlives_its_value());
}
