//! Builds each enabled peer as a shared library and writes down where it is.

mod peers;
mod tools;

fn main() {
    println!("cargo:rerun-if-changed=build");
    println!("cargo:rerun-if-changed=../../Cargo.lock");
    let mut lines = String::new();
    for (feature, name, build) in peers::ALL {
        if std::env::var_os(format!("CARGO_FEATURE_{}", feature.to_uppercase())).is_none() {
            continue;
        }
        if let Some((version, library)) = build() {
            lines += &format!("{name}\t{version}\t{}\n", library.display());
        }
    }
    std::fs::write(tools::out("peers.tsv"), lines).expect("the build folder is writable");
}
