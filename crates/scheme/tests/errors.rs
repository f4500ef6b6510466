//! What is said of programs that are none: each `errors/NAME.scm` beside `errors/NAME.txt`.

use allod_scheme::{Settings, Sources, compile};
use std::path::Path;

#[test]
fn faults_are_told_with_file_line_and_column() {
    let folder = Path::new("tests/errors");
    let mut names: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.retain(|path| path.extension().is_some_and(|e| e == "scm"));
    names.sort();
    assert!(names.len() >= 20, "the programs are there");
    let mut wrong = String::new();
    for path in names {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = Path::new(path.file_name().unwrap());
        let said = compile(&mut Sources::new(folder), name, text, &Settings::default())
            .err()
            .unwrap_or("no fault".into())
            + "\n";
        let golden = path.with_extension("txt");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(&golden, &said).unwrap();
        }
        let expected = std::fs::read_to_string(&golden).unwrap_or_default();
        if said != expected {
            wrong += &format!("{}:\n{said}instead of\n{expected}", path.display());
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}
