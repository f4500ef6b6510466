//! Builds each enabled peer as a shared library and writes down where it is.

mod peers;
mod tools;

fn main() {
    println!("cargo:rerun-if-changed=build");
    let mut lines = String::new();
    for (feature, name, build) in peers::ALL {
        if std::env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase())).is_none() {
            continue;
        }
        if let Some((version, library)) = build() {
            lines +=
                &format!("({name:?}, {version:?}, {library:?}, include_bytes!({library:?})),\n");
        }
    }
    std::fs::write(tools::out("peers.rs"), format!("[{lines}]"))
        .expect("the build folder is writable");
}
