//! No files of the compiler use one another in a circle.

allod_layers::no_circles!();
