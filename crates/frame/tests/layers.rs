//! No files of `src` use one another in a circle.

allod_layers::no_circles!();
