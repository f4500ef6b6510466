//! What primitives do to objects, as the table of primitives says it of each.

/// Where a primitive's result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gives {
    /// No object of the region.
    Immediate,
    /// A number, which is mostly immediate.
    Number,
    /// One of the arguments.
    Same(usize),
    /// What an argument holds.
    Part(usize),
    /// What an argument holds, at any depth, or itself.
    Deep(usize),
    /// A new object that holds the arguments.
    Holder,
    /// A new object that holds the arguments, of which nobody reads the first from it.
    Record,
    /// New objects, of which one leads to the others and to the arguments.
    Chain,
    /// A new object that holds nothing.
    Leaf,
    /// What the program holds elsewhere.
    Global,
    /// Anything new, or anything that is reached from the arguments.
    Anything,
    /// It does not return.
    Never,
}

/// What a primitive changes, by numbers of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stores {
    /// Nothing.
    Nothing,
    /// Text, bytes or numbers, which lead to no objects.
    Text,
    /// These arguments into the first.
    Into(&'static [usize]),
    /// What an argument holds into the first.
    Part(usize),
    /// Anything into anything that the arguments lead to.
    Deep,
    /// The first argument, where the whole program finds it.
    Global,
    /// Something outside the region leads to the new object.
    Outside,
}
