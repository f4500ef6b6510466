//! Files stand above those that they use.

allod_layers::no_circles!();
