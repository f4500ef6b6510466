//! The files of the library are layers, in the order that `lib.rs` says.

allod_layers::tests!(allowed: ["primitives", "region"]);
