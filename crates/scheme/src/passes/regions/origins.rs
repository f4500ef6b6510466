//! Where values may come from, as bits; and what objects of each origin may lead to.
//!
//! ```text
//! origin = FRESH | NUMBER | OLD | CONSTANT | argument i | inside argument i
//! ```
//! An origin stands for a set of objects. [`Heap`] says for each origin from which origins the objects come that
//! its objects point to. Storing `y` into `x` adds the origins of `y` to what those of `x` lead to:
//! container and value are unified as far as the origins can tell them apart.

/// A set of origins.
pub(super) type Origins = u64;

/// Made since the procedure, or the scope, began.
pub(super) const FRESH: Origins = 1;
/// A number made since: an object only if it is too large, broken or inexact, and it leads nowhere.
pub(super) const NUMBER: Origins = 2;
/// Made before, and reached by another way than an argument: globals, the dynamic state.
pub(super) const OLD: Origins = 4;
/// Constants: they lead to constants only, and whoever tries to change one gets an error.
pub(super) const CONSTANT: Origins = 8;

/// Arguments that are told apart; the last one stands for all that follow.
const MOST: usize = 30;
const FIRST: usize = 4;
const BITS: usize = FIRST + 2 * MOST;

/// What was given as an argument.
pub(super) fn argument(i: usize) -> Origins {
    1 << (FIRST + 2 * i.min(MOST - 1))
}

/// What an argument leads to.
fn inside(i: usize) -> Origins {
    argument(i) << 1
}

/// The single origins of a set.
fn each(mut set: Origins) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros() as usize;
        set &= set.wrapping_sub(1);
        (bit < BITS).then_some(bit)
    })
}

/// What the objects of each origin point to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Heap([Origins; BITS]);

impl Heap {
    /// Before anything is stored.
    pub(super) const NEW: Heap = {
        let mut leads = [0; BITS];
        leads[OLD.trailing_zeros() as usize] = OLD;
        leads[CONSTANT.trailing_zeros() as usize] = CONSTANT;
        let mut i = 0;
        while i < MOST {
            let argument = FIRST + 2 * i;
            let inside = 1 << (argument + 1);
            leads[argument] = inside;
            leads[argument + 1] = inside;
            i += 1;
        }
        Heap(leads)
    };

    /// What is read from an object.
    pub(super) fn load(&self, of: Origins) -> Origins {
        each(of).fold(0, |found, bit| found | self.0[bit])
    }

    /// A value and all that it leads to.
    pub(super) fn closure(&self, of: Origins) -> Origins {
        let mut all = of;
        loop {
            let more = all | self.load(all);
            if more == all {
                return all;
            }
            all = more;
        }
    }

    /// Stores a value; numbers hold none, and constants keep theirs.
    pub(super) fn store(&mut self, into: Origins, value: Origins) {
        each(into & !(NUMBER | CONSTANT)).for_each(|bit| self.0[bit] |= value);
    }

    /// Something fresh may be reached from what is older.
    pub(super) fn leaks(&self) -> bool {
        self.load(OLD) & (FRESH | NUMBER) != 0
    }

    /// Does what a procedure does, given its arguments; and gives what its result is here.
    pub(super) fn call(&mut self, does: &Heap, result: Origins, arguments: &[Origins]) -> Origins {
        loop {
            let before = *self;
            for bit in 0..BITS.min(FIRST + 2 * arguments.len()) {
                let stored = does.0[bit] & !Heap::NEW.0[bit];
                if stored != 0 {
                    let (into, value) =
                        (self.here(1 << bit, arguments), self.here(stored, arguments));
                    self.store(into, value);
                }
            }
            if *self == before {
                return self.here(result, arguments);
            }
        }
    }

    /// A callee's origins as the caller's.
    fn here(&self, of: Origins, arguments: &[Origins]) -> Origins {
        let mut found = of & (FRESH | NUMBER | CONSTANT);
        if of & OLD != 0 {
            found |= self.closure(OLD);
        }
        for (i, given) in arguments.iter().enumerate() {
            if of & argument(i) != 0 {
                found |= given;
            }
            if of & inside(i) != 0 {
                found |= self.closure(self.load(*given));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_read_again_and_leaks_only_from_what_is_old() {
        let mut heap = Heap::NEW;
        heap.store(FRESH, OLD | NUMBER);
        assert_eq!(heap.load(FRESH), OLD | NUMBER);
        assert!(!heap.leaks());
        heap.store(argument(0), FRESH);
        assert!(!heap.leaks());
        heap.store(OLD, NUMBER);
        assert!(heap.leaks());
    }

    #[test]
    fn a_procedure_does_to_its_arguments_what_it_did_to_its_parameters() {
        let mut does = Heap::NEW;
        does.store(argument(0), argument(1));
        for (container, value, leaks) in
            [(OLD, FRESH, true), (FRESH, FRESH, false), (FRESH, OLD, false), (OLD, OLD, false)]
        {
            let mut heap = Heap::NEW;
            assert_eq!(heap.call(&does, argument(1), &[container, value]), value);
            assert_eq!(heap.leaks(), leaks, "{container} {value}");
        }
    }

    #[test]
    fn nothing_is_stored_in_what_constants_lead_to() {
        let mut does = Heap::NEW;
        does.store(does.load(argument(0)), FRESH);
        for (container, leaks) in [(OLD, true), (CONSTANT, false), (CONSTANT | OLD, true)] {
            let mut heap = Heap::NEW;
            heap.call(&does, 0, &[container]);
            assert_eq!(heap.leaks(), leaks, "{container}");
            assert_eq!(heap.load(CONSTANT), CONSTANT);
        }
    }

    #[test]
    fn arguments_that_are_the_same_object_are_found_out_by_the_caller() {
        // (set-car! a x), then (set-car! (car b) fresh), where a and b are one fresh pair and x is old.
        let mut does = Heap::NEW;
        does.store(argument(0), argument(2));
        does.store(does.load(argument(1)), FRESH);
        let mut heap = Heap::NEW;
        heap.call(&does, 0, &[FRESH, FRESH, OLD]);
        assert!(heap.leaks());
    }
}
