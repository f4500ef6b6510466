//! Subjects: the allocators that a program can be run on.

use crate::fields::field;
use crate::files;
use crate::model::Arm;
use crate::names;
use crate::process::{End, Launch, preloadable};
use std::ffi::{CStr, OsString};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The name of the system's own malloc as a subject.
pub const SYSTEM: &str = "system";

/// Folders in which distributions install shared libraries.
const FOLDERS: [&str; 8] = [
    "/usr/local/lib",
    "/usr/lib64",
    "/usr/lib",
    "/lib64",
    "/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/local/lib64",
];

/// Libraries that are used if the system has them, and what they are.
const KNOWN: [(&str, &str); 4] = [
    ("libmimalloc.so", "mimalloc"),
    ("libjemalloc.so", "jemalloc"),
    ("libtcmalloc_minimal.so", "tcmalloc"),
    ("libsnmallocshim.so", "snmalloc"),
];

/// An allocator to run programs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The name in tables and files, such as `allod`, `system` or `mimalloc-3.3.2`.
    pub name: String,
    /// The library to preload; none for the system's own malloc.
    pub library: Option<PathBuf>,
    /// A description with its origin, for people.
    pub origin: String,
}

impl Subject {
    /// The subject as an arm: nothing but its library is preloaded.
    pub fn arm(&self) -> Arm {
        Arm { origin: self.origin.clone(), preload: self.library.clone(), ..Arm::new(&self.name) }
    }
}

/// A library that may become a subject.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The allocator's name.
    pub name: String,
    /// Its version, if known beforehand.
    pub version: Option<String>,
    /// The library.
    pub library: PathBuf,
    /// Where it came from, such as `built with this command`.
    pub origin: String,
}

/// The subjects that were found, and libraries that do not work.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The subjects, Allod first, the system's malloc second.
    pub subjects: Vec<Subject>,
    /// One sentence for each library that cannot be used.
    pub refused: Vec<String>,
}

/// Finds every allocator: Allod, the system's malloc, the `built` peers, those `named` by the user as
/// `NAME=PATH`, and those installed on the system.
///
/// Each library is tried before it is accepted: a program started on it says which library its
/// `malloc` really comes from.
pub fn discover(built: &[Candidate], named: &[Candidate]) -> Found {
    let (mut found, mut hardened) = (Found::default(), Found::default());
    match files::liballod() {
        Ok(library) => match probe(&library) {
            Ok(_) => accept(&mut found, "allod".into(), library, "Allod".into()),
            Err(why) => found.refused.push(format!("allod is left out: {why}")),
        },
        Err(message) => found.refused.push(message),
    }
    // It is built by a separate command, so nobody is told if it is missing.
    if let Ok(library) = files::hardened() {
        match probe(&library) {
            Ok(_) => accept(&mut hardened, "allod-hardened".into(), library, "Allod".into()),
            Err(why) => found.refused.push(format!("allod-hardened is left out: {why}")),
        }
    }
    found.subjects.push(Subject {
        name: SYSTEM.into(),
        library: None,
        origin: format!("the system's malloc, {}", libc_version()),
    });
    found.subjects.append(&mut hardened.subjects);
    for candidate in named.iter().chain(built).chain(&installed()) {
        try_candidate(&mut found, candidate);
    }
    found
}

/// Reads a peer given as `NAME=PATH`.
///
/// # Errors
/// Says what is wrong with it.
pub fn parse_peer(text: &str) -> Result<Candidate, String> {
    let (name, path) = text
        .split_once('=')
        .filter(|(name, path)| !name.is_empty() && !path.is_empty())
        .ok_or_else(|| format!("{text:?} is not NAME=PATH, such as mine=/usr/lib/libmine.so"))?;
    let cannot = |e: std::io::Error| format!("the library of peer {name:?}, {path}: {e}");
    let library = Path::new(path).canonicalize().map_err(cannot)?;
    let mut start = [0; 4];
    let read = File::open(&library).and_then(|mut file| file.read_exact(&mut start));
    match read {
        Err(e) if e.kind() != ErrorKind::UnexpectedEof => return Err(cannot(e)),
        _ if &start != b"\x7fELF" => {
            return Err(format!(
                "the library of peer {name:?}, {path}: this is not a shared library"
            ));
        }
        _ => {}
    }
    let origin = format!("{}", library.display());
    Ok(Candidate { name: name.into(), version: Some(String::new()), library, origin })
}

/// Picks subjects by names: a whole name, or an allocator's name without its version.
///
/// # Errors
/// Names the unknown one, and those that there are.
pub fn pick(subjects: &[Subject], names: &[String]) -> Result<Vec<Subject>, String> {
    if names.is_empty() {
        return Ok(subjects.to_vec());
    }
    for name in names {
        find(subjects, name)?;
    }
    let picked = subjects.iter().filter(|s| names.iter().any(|n| is_called(s, n)));
    Ok(picked.cloned().collect())
}

/// Finds one subject by its whole name, or the first of an allocator's versions.
///
/// # Errors
/// Names what there is.
pub fn find<'a>(subjects: &'a [Subject], name: &str) -> Result<&'a Subject, String> {
    let exact = subjects.iter().find(|s| s.name == name);
    exact.or_else(|| subjects.iter().find(|s| is_called(s, name))).ok_or_else(|| {
        let known: Vec<&str> = subjects.iter().map(|s| s.name.as_str()).collect();
        names::unknown("allocator", name, &known)
    })
}

fn is_called(subject: &Subject, name: &str) -> bool {
    subject.name == name
        || subject
            .name
            .strip_prefix(name)
            .and_then(|rest| rest.strip_prefix('-'))
            .is_some_and(|version| version.starts_with(|c: char| c.is_ascii_digit()))
}

fn try_candidate(found: &mut Found, candidate: &Candidate) {
    let told = match probe(&candidate.library) {
        Ok(told) => told,
        Err(why) => {
            found.refused.push(format!("{} is left out: {why}", candidate.name));
            return;
        }
    };
    let version = candidate.version.clone().unwrap_or(told);
    let mut name = candidate.name.clone();
    if !version.is_empty() {
        name = format!("{name}-{version}");
    }
    if found.subjects.iter().any(|s| s.name == name) {
        // The user's come first, then those built here. An installed one of the same version is
        // the same allocator.
        if candidate.version.as_deref() == Some("") {
            found.refused.push(format!("{name} is left out: there is another of that name"));
            return;
        }
        name += "-installed";
    }
    accept(found, name, candidate.library.clone(), candidate.origin.clone());
}

fn accept(found: &mut Found, name: String, library: PathBuf, origin: String) {
    found.subjects.push(Subject { name, library: Some(library), origin });
}

/// Starts a small program on a library to check that the library serves `malloc`; returns the
/// version that the allocator reports, if any.
///
/// # Errors
/// Says why the library cannot be used.
pub fn probe(library: &Path) -> Result<String, String> {
    preloadable(library)?;
    let arguments = [OsString::from("probe")];
    let used = Launch {
        preload: Some(library),
        limit: Some(Duration::from_secs(20)),
        ..Launch::new(&files::workload()?, &arguments)
    }
    .run()?;
    if used.end != End::Exit(0) {
        return Err(format!("a small program on {} {}", library.display(), used.end.words()));
    }
    let serving = field(&used.stdout, "malloc");
    if !same_file(Path::new(serving), library) {
        return Err(format!("{} was preloaded, but {serving} serves malloc", library.display()));
    }
    Ok(field(&used.stdout, "version").to_owned())
}

/// Whether two paths lead to the same file.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// The known libraries among those installed, each file once.
fn installed() -> Vec<Candidate> {
    let mut found: Vec<Candidate> = Vec::new();
    for (file, name) in KNOWN {
        for folder in FOLDERS {
            let Some(library) = newest(Path::new(folder), file) else { continue };
            if !found.iter().any(|c| c.library == library) {
                let origin = format!("{name} as installed: {}", library.display());
                found.push(Candidate { name: name.into(), version: None, library, origin });
            }
        }
    }
    found
}

/// The library `file` in `folder`, or the one with the highest suffix (`libx.so.2`).
fn newest(folder: &Path, file: &str) -> Option<PathBuf> {
    let mut matches: Vec<PathBuf> = std::fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.strip_prefix(file).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
        .collect();
    matches.sort();
    matches.pop()?.canonicalize().ok()
}

/// The C library's name and version, which is that of the system's malloc.
pub fn libc_version() -> String {
    // SAFETY: glibc returns a constant string that ends in a zero byte.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) };
    format!("glibc {}", version.to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects(names: &[&str]) -> Vec<Subject> {
        names
            .iter()
            .map(|n| Subject { name: (*n).into(), library: None, origin: String::new() })
            .collect()
    }

    #[test]
    fn a_name_without_version_picks_every_version_of_it() {
        let all = subjects(&["allod", "mimalloc-3.3.2", "mimalloc-2.0.9", "jemalloc-5.3.0"]);
        let picked = pick(&all, &["mimalloc".into(), "allod".into()]).unwrap();
        let names: Vec<_> = picked.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["allod", "mimalloc-3.3.2", "mimalloc-2.0.9"]);
        assert_eq!(find(&all, "mimalloc").unwrap().name, "mimalloc-3.3.2");
        assert_eq!(find(&all, "mimalloc-2.0.9").unwrap().name, "mimalloc-2.0.9");
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        let message = pick(&subjects(&["allod", "system"]), &["alod".into()]).unwrap_err();
        assert_eq!(message, "no allocator \"alod\"; did you mean allod? There are: allod, system");
    }

    #[test]
    fn a_peer_needs_a_name_and_a_file() {
        assert!(parse_peer("x").unwrap_err().contains("NAME=PATH"));
        assert!(parse_peer("x=/no/such/lib.so").unwrap_err().contains("/no/such/lib.so"));
    }

    #[test]
    fn a_library_without_malloc_is_found_out() {
        let math = FOLDERS.iter().find_map(|f| newest(Path::new(f), "libm.so.6"));
        let why = probe(&math.expect("every system has libm")).unwrap_err();
        assert!(why.contains("serves malloc"), "{why}");
    }
}
