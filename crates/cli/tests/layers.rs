//! The modules are layers in the order that the crate's own page names.

allod_layers::tests!();
