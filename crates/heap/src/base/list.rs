//! The one intrusive list: members are spans, named by the number of their first unit.
//!
//! ```text
//!  first ─▶ ┌────┐ next ─▶ ┌────┐ next ─▶ ┌────┐ next = 0
//!           │ 7  │         │ 40 │         │ 12 │
//!   prev = 0└────┘ ◀─ prev └────┘ ◀─ prev └────┘ ◀─ last
//! ```
//! A span is in several lists at once by having several [`Links`]; a list's type says which of them it
//! uses ([`Linked`]). 0 stands for "none", because no span starts at unit 0.

use crate::base::layout::Unit;
use core::marker::PhantomData;

/// A member's neighbours in a list.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Links {
    prev: Unit,
    next: Unit,
}

/// Says where the links of a list's members lie.
pub trait Linked {
    /// The links of the member with this number, which may be read and written by whoever holds
    /// the list.
    fn links(member: Unit) -> *mut Links;
}

/// A doubly linked list of spans. Zero bytes are an empty list.
#[repr(C)]
pub struct List<L> {
    first: Unit,
    last: Unit,
    links: PhantomData<L>,
}

impl<L: Linked> List<L> {
    /// A list without members.
    pub const fn new() -> List<L> {
        List { first: Unit::NONE, last: Unit::NONE, links: PhantomData }
    }

    /// The first member; [`Unit::NONE`] when there is none.
    #[inline]
    pub fn first(&self) -> Unit {
        self.first
    }

    /// The last member; [`Unit::NONE`] when there is none.
    #[inline]
    pub fn last(&self) -> Unit {
        self.last
    }

    /// True when there is no member.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.first.is_none()
    }

    /// The member after one; [`Unit::NONE`] after the last.
    ///
    /// # Safety
    /// `member` is in a list of this type that the caller holds.
    #[inline]
    pub unsafe fn after(member: Unit) -> Unit {
        // SAFETY: the caller's contract.
        unsafe { (*L::links(member)).next }
    }

    /// The member before one; [`Unit::NONE`] before the first.
    ///
    /// # Safety
    /// `member` is in a list of this type that the caller holds.
    #[inline]
    pub unsafe fn before(member: Unit) -> Unit {
        // SAFETY: the caller's contract.
        unsafe { (*L::links(member)).prev }
    }

    /// Adds a member at the front.
    ///
    /// # Safety
    /// `member` is a span of the list's holder that is in no list of this type.
    #[inline]
    pub unsafe fn push_front(&mut self, member: Unit) {
        // SAFETY: the caller's contract.
        unsafe { self.insert(Unit::NONE, member, self.first) };
    }

    /// Adds a member at the back.
    ///
    /// # Safety
    /// As for [`push_front`](List::push_front).
    #[inline]
    pub unsafe fn push_back(&mut self, member: Unit) {
        // SAFETY: the caller's contract.
        unsafe { self.insert(self.last, member, Unit::NONE) };
    }

    /// Adds a member after another.
    ///
    /// # Safety
    /// As for [`push_front`](List::push_front); `place` is in the list.
    pub unsafe fn insert_after(&mut self, place: Unit, member: Unit) {
        // SAFETY: the caller's contract.
        unsafe { self.insert(place, member, (*L::links(place)).next) };
    }

    /// Takes a member out.
    ///
    /// # Safety
    /// `member` is in this list.
    #[inline]
    pub unsafe fn remove(&mut self, member: Unit) {
        // SAFETY: members of a list have valid links.
        unsafe {
            let Links { prev, next } = *L::links(member);
            match prev {
                Unit::NONE => self.first = next,
                p => (*L::links(p)).next = next,
            }
            match next {
                Unit::NONE => self.last = prev,
                n => (*L::links(n)).prev = prev,
            }
        }
    }

    /// Replaces one span by another.
    ///
    /// # Safety
    /// `old` is in this list; `new` is `old`, or as for [`push_front`](List::push_front).
    pub unsafe fn replace(&mut self, old: Unit, new: Unit) {
        // SAFETY: the caller's contract.
        unsafe {
            let Links { prev, next } = *L::links(old);
            self.remove(old);
            self.insert(prev, new, next);
        }
    }

    #[inline]
    unsafe fn insert(&mut self, prev: Unit, member: Unit, next: Unit) {
        // SAFETY: the caller names a member and its new neighbours.
        unsafe {
            *L::links(member) = Links { prev, next };
            match prev {
                Unit::NONE => self.first = member,
                p => (*L::links(p)).next = member,
            }
            match next {
                Unit::NONE => self.last = member,
                n => (*L::links(n)).prev = member,
            }
        }
    }
}

impl<L: Linked> Default for List<L> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::cell::UnsafeCell;
    use std::vec::Vec;

    struct Here;
    std::thread_local! {
        static LINKS: [UnsafeCell<Links>; 8] = Default::default();
    }
    impl Linked for Here {
        fn links(member: Unit) -> *mut Links {
            LINKS.with(|links| links[member.index()].get())
        }
    }

    fn members(list: &List<Here>) -> Vec<u32> {
        let mut all = Vec::new();
        let mut at = list.first();
        while !at.is_none() {
            all.push(at.number());
            // SAFETY: `at` is in the list.
            at = unsafe { List::<Here>::after(at) };
        }
        assert_eq!(all.last().copied().unwrap_or(0), list.last().number());
        all
    }

    #[test]
    fn members_keep_their_order() {
        let n = Unit::new;
        let mut list = List::<Here>::new();
        // SAFETY: each member is in no other list, and in this one where that is asked for.
        unsafe {
            list.push_back(n(2));
            list.push_front(n(1));
            list.push_back(n(4));
            list.insert_after(n(2), n(3));
            assert_eq!(members(&list), [1, 2, 3, 4]);
            list.replace(n(3), n(5));
            list.replace(n(4), n(4));
            assert_eq!(members(&list), [1, 2, 5, 4]);
            list.remove(n(4));
            list.remove(n(1));
            assert_eq!(members(&list), [2, 5]);
            list.remove(n(2));
            list.remove(n(5));
        }
        assert!(list.is_empty() && list.last().is_none());
    }
}
