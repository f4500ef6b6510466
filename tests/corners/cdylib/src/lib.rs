//! What a C program loads, uses from several threads and unloads.

#[global_allocator]
static ALLOCATOR: allod::Allod = allod::Allod;

/// Allocates and frees more than 10 MB, in small blocks and large ones; returns a sum of them.
#[unsafe(no_mangle)]
pub extern "C" fn corner_work(seed: u64) -> u64 {
    let small: Vec<Vec<u8>> = (0..20_000).map(|i| vec![seed as u8; 100 + i * 7919 % 900]).collect();
    let large: Vec<Vec<u8>> = (0..4).map(|i| vec![1; 2_000_000 + i * 100_000]).collect();
    let words: Vec<String> = (0..1000).map(|i| format!("{seed} and {i}")).collect();
    let lengths: usize = words.iter().map(String::len).sum();
    let bytes: u64 = small.iter().chain(&large).map(|v| u64::from(v[v.len() / 2])).sum();
    bytes + lengths as u64
}
