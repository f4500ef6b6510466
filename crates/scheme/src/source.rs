//! The files of a program.

use allod_scheme_datum::{Datum, Fault, Place, Source, Text, read};
use std::path::{Path, PathBuf};

/// Lines longer than this are not shown whole.
const WIDE: usize = 160;

/// The files that a compilation has read. Number 0 is the prelude.
#[derive(Debug)]
pub struct Sources {
    files: Vec<(PathBuf, String)>,
    folder: PathBuf,
}

impl Sources {
    /// Without files; those that others name are looked for in `folder`.
    pub fn new(folder: &Path) -> Sources {
        Sources { files: Vec::new(), folder: folder.to_owned() }
    }

    /// Reads a text.
    ///
    /// # Errors
    /// When it is not Scheme's.
    pub fn read(&mut self, path: &Path, text: String) -> Result<Vec<Datum>, Fault> {
        self.read_folding(path, text, false)
    }

    fn read_folding(&mut self, path: &Path, text: String, fold: bool) -> Result<Vec<Datum>, Fault> {
        let file = self.files.len() as u32;
        self.files.push((path.to_owned(), text));
        let text = &self.files[file as usize].1;
        // Some editors begin a file with a mark of its encoding.
        let mut text = Text::of_file(text.strip_prefix('\u{feff}').unwrap_or(text), file);
        *text.fold() = fold;
        let mut data = Vec::new();
        while let Some(datum) = read(&mut text)? {
            data.push(datum);
        }
        Ok(data)
    }

    pub(crate) fn include(
        &mut self,
        name: &str,
        fold: bool,
        at: Place,
    ) -> Result<Vec<Datum>, Fault> {
        let beside = self.files.get(at.file as usize).and_then(|(path, _)| path.parent());
        let path = beside.map_or(self.folder.clone(), Path::to_owned).join(name);
        match std::fs::read_to_string(&path) {
            Ok(text) => self.read_folding(&path, text, fold),
            Err(error) => {
                Err(Fault { message: format!("cannot include {name}: {error}"), at, at_end: false })
            }
        }
    }

    pub(crate) fn library(&mut self, name: &str, at: Place) -> Result<Option<Vec<Datum>>, Fault> {
        let path = self.folder.join(name);
        match std::fs::read_to_string(&path) {
            Ok(text) => self.read(&path, text).map(Some),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => {
                Err(Fault { message: format!("cannot read {name}: {error}"), at, at_end: false })
            }
        }
    }

    /// The texts that were read, for the key of the cache.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.files.iter().map(|(_, text)| text.as_str())
    }

    /// The text of a file, by its number.
    pub(crate) fn text_of(&self, file: usize) -> &str {
        self.files.get(file).map_or("", |(_, text)| text)
    }

    /// The names of the files, by number; what people call them.
    pub(crate) fn names(&self) -> Vec<String> {
        self.files.iter().map(|(path, _)| path.display().to_string()).collect()
    }

    /// A fault as people expect it: file, line, column, what is wrong, and the line itself.
    pub fn describe(&self, fault: &Fault) -> String {
        let Place { file, line, column } = fault.at;
        let Some((path, text)) = self.files.get(file as usize) else {
            return fault.message.clone();
        };
        let mut said = format!("{}:{line}:{column}: {}", path.display(), fault.message);
        if let Some(source) = text.lines().nth(line.saturating_sub(1) as usize) {
            let column = column as usize - 1;
            let chars: Vec<char> = source.trim_start_matches('\u{feff}').chars().collect();
            // Of a line that is longer than any screen, what is around the fault.
            let from = if chars.len() > WIDE { column.saturating_sub(WIDE / 2) } else { 0 };
            let to = chars.len().min(from + WIDE);
            let shown: String = chars[from.min(to)..to].iter().collect();
            let before: String = chars[from.min(to)..column.min(to)]
                .iter()
                .map(|c| if *c == '\t' { '\t' } else { ' ' })
                .collect();
            said += &format!("\n  {shown}\n  {before}^");
        }
        said
    }
}
