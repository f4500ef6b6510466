//! A shadow of the heap: what lives where, filled with what. Shared by the property tests and the
//! fuzzer (`fuzz/`).

use allod_heap as heap;
use heap::Heap;
use std::collections::BTreeMap;

/// One operation; blocks are named by their rank among the live ones.
#[derive(Clone, Debug)]
pub enum Op {
    Malloc(usize),
    Zeroed(usize),
    Aligned(u32, usize),
    Realloc(usize, usize),
    Free(usize),
    /// A free by another thread.
    FreeElsewhere(usize),
    /// An allocation from a first-class heap, made when there is none.
    InHeap(usize),
    /// The end of the first-class heap with all its blocks.
    DropHeap,
    Purge,
}

struct Block {
    size: usize,
    fill: u8,
    in_heap: bool,
}

/// The live blocks by address, and the first-class heap that some are in.
#[derive(Default)]
pub struct Model {
    live: BTreeMap<usize, Block>,
    next: u8,
    heap: Option<Heap>,
}

impl Model {
    fn add(&mut self, p: *mut u8, size: usize, align: usize, in_heap: bool) {
        assert!(!p.is_null());
        let at = p as usize;
        assert_eq!(at % align, 0, "alignment");
        // SAFETY: a live block.
        assert!(unsafe { heap::usable_size(p) } >= size);
        if let Some((&b, before)) = self.live.range(..=at).next_back() {
            assert!(b + before.size.max(1) <= at, "overlap with the block before");
        }
        if let Some((&b, _)) = self.live.range(at..).next() {
            assert!(at + size.max(1) <= b, "overlap with the block after");
        }
        self.next = self.next.wrapping_add(1);
        // SAFETY: the block is ours.
        unsafe { p.write_bytes(self.next, size) };
        self.live.insert(at, Block { size, fill: self.next, in_heap });
    }

    /// Takes the block of a rank out of the model, after a look at its contents.
    fn remove(&mut self, rank: usize) -> Option<(*mut u8, Block)> {
        if self.live.is_empty() {
            return None;
        }
        let at = *self.live.keys().nth(rank % self.live.len())?;
        let block = self.live.remove(&at)?;
        check(at, &block, block.size);
        Some((at as *mut u8, block))
    }

    /// Does one operation and checks what it did.
    pub fn run(&mut self, op: &Op) {
        match *op {
            Op::Malloc(size) => self.add(heap::malloc(size), size, 16, false),
            Op::Zeroed(size) => {
                let p = heap::malloc_zeroed(size);
                check(p as usize, &Block { size, fill: 0, in_heap: false }, size);
                self.add(p, size, 16, false);
            }
            Op::Aligned(shift, size) => {
                self.add(heap::aligned_alloc(1 << shift, size), size, 1 << shift, false)
            }
            Op::Realloc(rank, size) => self.realloc(rank, size),
            Op::Free(rank) => {
                let Some((p, _)) = self.remove(rank) else { return };
                // SAFETY: a live block, not used again.
                unsafe { heap::free(p) };
            }
            Op::FreeElsewhere(rank) => {
                let Some((p, _)) = self.remove(rank) else { return };
                let at = p as usize;
                // SAFETY: a live block, not used again.
                std::thread::spawn(move || unsafe { heap::free(at as *mut u8) }).join().unwrap();
            }
            Op::InHeap(size) => {
                let own = *self.heap.get_or_insert_with(|| Heap::new().expect("memory"));
                self.add(own.malloc(size), size, 16, true);
            }
            Op::DropHeap => self.drop_heap(),
            Op::Purge => {
                heap::purge_all();
            }
        }
    }

    fn realloc(&mut self, rank: usize, size: usize) {
        let Some((old, block)) = self.remove(rank) else { return };
        // SAFETY: a live block, of the first-class heap when it says so.
        let new = unsafe {
            match self.heap {
                Some(own) if block.in_heap => own.realloc(old, size),
                _ => heap::realloc(old, size),
            }
        };
        check(new as usize, &block, block.size.min(size));
        self.add(new, size, 16, block.in_heap);
    }

    fn drop_heap(&mut self) {
        let Some(own) = self.heap.take() else { return };
        self.live.retain(|&at, block| {
            if block.in_heap {
                check(at, block, block.size);
            }
            !block.in_heap
        });
        // SAFETY: its blocks are forgotten, and so is the handle.
        unsafe { own.destroy() };
    }

    /// Checks and frees all that lives.
    pub fn finish(mut self) {
        self.drop_heap();
        while let Some((p, _)) = self.remove(0) {
            // SAFETY: a live block, not used again.
            unsafe { heap::free(p) };
        }
    }
}

/// The first `upto` bytes at `at` are what the block was filled with.
fn check(at: usize, block: &Block, upto: usize) {
    // SAFETY: a live block of at least as many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(at as *const u8, upto) };
    assert!(bytes.iter().all(|&b| b == block.fill), "contents of {at:#x}");
}

/// Reads a sequence of operations from bytes, four to an operation, and runs it.
pub fn run_bytes(bytes: &[u8]) {
    let mut model = Model::default();
    for four in bytes.chunks_exact(4) {
        let number = usize::from(four[1]) | usize::from(four[2]) << 8;
        // Mostly small sizes, some up to 4 MiB.
        let size = number << (four[3] % 16).saturating_sub(9);
        let size = if four[3] & 0x80 == 0 { size % 2048 } else { size };
        model.run(&match four[0] % 16 {
            0..=3 => Op::Malloc(size),
            4 => Op::Zeroed(size),
            5 => Op::Aligned(4 + u32::from(four[3] % 14), size),
            6 | 7 => Op::Realloc(usize::from(four[0]), size),
            8..=11 => Op::Free(number),
            12 => Op::FreeElsewhere(number),
            13 | 14 => Op::InHeap(size),
            _ if number % 4 == 0 => Op::DropHeap,
            _ if number % 64 == 1 => Op::Purge,
            _ => Op::Free(0),
        });
    }
    model.finish();
}
