// Another thread may be taking the region apart that holds the address.
fn main() {
    let p = std::hint::black_box(4096) as *const u8;
    println!("{:p}", allod_region::region_of(p));
}
