//! What a thread's open frames have allocated, by place and tag.
//!
//! A site is a place in the source, a tag and a depth of open frames. Its bytes are those of one
//! frame: if another frame used the site last, it starts over.

use core::panic::Location;
use std::vec::Vec;

/// What one frame allocated at one place.
#[derive(Clone, Copy)]
pub(super) struct Site {
    pub(super) location: &'static Location<'static>,
    pub(super) tag: usize,
    pub(super) bytes: u64,
    depth: usize,
    /// The frame the bytes are of.
    frame: u64,
}

/// All sites of a thread: a list, and a table of where in it a site is.
#[derive(Default)]
pub(super) struct Sites {
    list: Vec<Site>,
    /// Indices into the list plus one; 0 is free. Its length is a power of two or zero.
    table: Vec<u32>,
    /// The site used last.
    last: usize,
}

impl Sites {
    /// Adds to a site; its index, if this is its first allocation in the frame.
    #[inline]
    pub(super) fn add(
        &mut self,
        location: &'static Location<'static>,
        (tag, depth, frame): (usize, usize, u64),
        bytes: u64,
    ) -> Option<u32> {
        if let Some(site) = self.list.get_mut(self.last)
            && core::ptr::eq(site.location, location)
            && (site.tag, site.depth, site.frame) == (tag, depth, frame)
        {
            site.bytes += bytes;
            return None;
        }
        self.last = self.find(location, tag, depth);
        let site = &mut self.list[self.last];
        let first = site.frame != frame;
        if first {
            (site.frame, site.bytes) = (frame, 0);
        }
        site.bytes += bytes;
        first.then_some(self.last as u32)
    }

    pub(super) fn get(&self, index: u32) -> Site {
        self.list[index as usize]
    }

    /// The index of a site, entered if it is new.
    fn find(&mut self, location: &'static Location<'static>, tag: usize, depth: usize) -> usize {
        if self.list.len() * 2 >= self.table.len() {
            self.rebuild();
        }
        let mut at = hash(location, tag, depth) & (self.table.len() - 1);
        while let Some(index) = (self.table[at] as usize).checked_sub(1) {
            let site = &self.list[index];
            if core::ptr::eq(site.location, location) && (site.tag, site.depth) == (tag, depth) {
                return index;
            }
            at = (at + 1) & (self.table.len() - 1);
        }
        // No frame has the number 0.
        self.list.push(Site { location, tag, bytes: 0, depth, frame: 0 });
        self.table[at] = self.list.len() as u32;
        self.list.len() - 1
    }

    /// Makes the table twice as large.
    fn rebuild(&mut self) {
        let len = (self.table.len() * 2).max(64);
        self.table = std::vec![0; len];
        for (index, site) in self.list.iter().enumerate() {
            let mut at = hash(site.location, site.tag, site.depth) & (len - 1);
            while self.table[at] != 0 {
                at = (at + 1) & (len - 1);
            }
            self.table[at] = index as u32 + 1;
        }
    }
}

fn hash(location: &'static Location<'static>, tag: usize, depth: usize) -> usize {
    let key = (core::ptr::from_ref(location).addr() >> 3) ^ (tag << 40) ^ (depth << 50);
    key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32
}
