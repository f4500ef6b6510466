//! The folders of `src` are layers, and the files of a folder know where they stand, too.

allod_layers::tests!();
