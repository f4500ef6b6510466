//! Names for addresses: from the profile if it has them, else from debug information, else from the symbol
//! table.

use crate::format::{Location, Mapping, Profile};
use addr2line::Loader;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSegment};
use std::collections::{BTreeSet, HashMap};

/// A function in a stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Frame {
    /// Its name, or the address and the file if it has none.
    pub function: String,
    /// `file.c:12`; empty if unknown.
    pub place: String,
}

/// A file with code.
struct Source {
    loader: Loader,
    /// Offset in the file, length and address of each segment, as the file is to be loaded.
    segments: Vec<(u64, u64, u64)>,
}

/// Names for the locations of a profile.
pub struct Symbols<'p> {
    profile: &'p Profile,
    mappings: HashMap<u64, &'p Mapping>,
    functions: HashMap<u64, (&'p str, &'p str)>,
    /// By path; `None` if a file cannot be used.
    sources: HashMap<&'p str, Option<Source>>,
    /// Problems with files, each once.
    pub notes: BTreeSet<String>,
}

impl<'p> Symbols<'p> {
    /// Opens nothing yet.
    pub fn new(profile: &'p Profile) -> Symbols<'p> {
        let functions = profile.function.iter();
        Symbols {
            profile,
            mappings: profile.mapping.iter().map(|mapping| (mapping.id, mapping)).collect(),
            functions: functions
                .map(|f| (f.id, (profile.text(f.name), profile.text(f.filename))))
                .collect(),
            sources: HashMap::new(),
            notes: BTreeSet::new(),
        }
    }

    /// The functions that a location is part of, the outermost first: several if some are inlined.
    pub fn frames(&mut self, location: &Location) -> Vec<Frame> {
        if !location.line.is_empty() {
            return location.line.iter().rev().map(|line| self.named(line)).collect();
        }
        let Some(&mapping) = self.mappings.get(&location.mapping_id) else {
            return vec![unknown(location.address, "")];
        };
        let path = self.profile.text(mapping.filename);
        if !self.sources.contains_key(path) {
            let source = self.open(path, self.profile.text(mapping.build_id));
            self.sources.insert(path, source);
        }
        let found = self.sources[path].as_ref().and_then(|source| source.frames(location, mapping));
        found.unwrap_or_else(|| vec![unknown(location.address, path)])
    }

    fn named(&self, line: &crate::format::Line) -> Frame {
        let (name, file) = self.functions.get(&line.function_id).copied().unwrap_or(("?", ""));
        Frame { function: name.to_owned(), place: place(file, Some(line.line)) }
    }

    fn open(&mut self, path: &str, id: &str) -> Option<Source> {
        // Mappings of the kernel, such as [vdso], are in no file.
        if !path.starts_with('/') {
            return None;
        }
        match Source::open(path, id) {
            Ok(source) => Some(source),
            Err(why) => {
                self.notes.insert(format!("functions of {path} have no names: {why}"));
                None
            }
        }
    }
}

impl Source {
    fn open(path: &str, id: &str) -> Result<Source, String> {
        let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
        let file: ElfFile64 = ElfFile64::parse(&*bytes).map_err(|_| {
            "it is not an executable or library for this kind of machine".to_owned()
        })?;
        let now = file.build_id().ok().flatten().unwrap_or_default();
        let now: String = now.iter().map(|byte| format!("{byte:02x}")).collect();
        if !id.is_empty() && id != now {
            return Err("it was rebuilt since the profile was made".to_owned());
        }
        let segments = file.segments().map(|segment| {
            let (offset, len) = segment.file_range();
            (offset, len, segment.address())
        });
        let segments = segments.collect();
        let loader = Loader::new(path).map_err(|e| e.to_string())?;
        Ok(Source { loader, segments })
    }

    fn frames(&self, location: &Location, mapping: &Mapping) -> Option<Vec<Frame>> {
        let offset =
            location.address.checked_sub(mapping.memory_start)?.checked_add(mapping.file_offset)?;
        let (from, _, address) = self
            .segments
            .iter()
            .find(|(from, len, _)| (*from..from.saturating_add(*len)).contains(&offset))?;
        let probe = (offset - from).checked_add(*address)?;
        let symbol = || self.loader.find_symbol(probe).map(demangled);
        let mut frames = Vec::new();
        if let Ok(mut inlined) = self.loader.find_frames(probe) {
            while let Ok(Some(frame)) = inlined.next() {
                let name =
                    frame.function.as_ref().and_then(|f| Some(f.demangle().ok()?.into_owned()));
                let Some(name) = name.or_else(symbol) else { continue };
                let place = frame.location.map_or(String::new(), |at| {
                    place(at.file.unwrap_or_default(), at.line.map(i64::from))
                });
                frames.push(Frame { function: name, place });
            }
        }
        if frames.is_empty() {
            frames.push(Frame { function: symbol()?, place: String::new() });
        }
        frames.reverse();
        Some(frames)
    }
}

fn demangled(name: &str) -> String {
    addr2line::demangle_auto(name.into(), None).into_owned()
}

/// The last part of a file's path, and the line.
fn place(file: &str, line: Option<i64>) -> String {
    let file = file.rsplit('/').next().unwrap_or(file);
    match line {
        Some(line) if line > 0 && !file.is_empty() => format!("{file}:{line}"),
        _ => file.to_owned(),
    }
}

fn unknown(address: u64, path: &str) -> Frame {
    let file = path.rsplit('/').next().unwrap_or(path);
    let function = match file {
        "" => format!("{address:#x}"),
        file => format!("{address:#x} in {file}"),
    };
    Frame { function, place: String::new() }
}
