//! The watcher's side of the page of live counters; the process's is in the heap.

use crate::{Problem, Process};
use allod_heap::page::{self, BYTES, COUNTER_WORDS, Counters, MAGIC, VERSION, word};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, fchown};
use std::path::PathBuf;

/// A request to a process to fill a page. Dropping it ends the request.
#[derive(Debug)]
pub struct Watch {
    process: Process,
    /// Its path through the folder, which stays when the process ends.
    path: PathBuf,
    _folder: File,
    file: File,
    beat: u64,
}

impl Watch {
    /// Requests a process's counters; they arrive a little later.
    ///
    /// # Errors
    /// When the page cannot be created where the process looks for it.
    pub fn open(process: &Process) -> Result<Self, Problem> {
        let name = page::name(process.own_number);
        let name = name.path().to_str().expect("the name is plain");
        let cannot = |e: io::Error| match process.problem(&e) {
            forbidden @ Problem::Forbidden(..) => forbidden,
            _ => Problem::System(
                format!("cannot ask process {}: {} in its {name}", process.number, page::FOLDER),
                e,
            ),
        };
        // The folder as seen by the process, which may be in a container.
        let folder = File::open(process.path(&format!("root{}", page::FOLDER))).map_err(cannot)?;
        let own = name.strip_prefix(page::FOLDER).unwrap_or(name);
        let path = PathBuf::from(format!("/proc/self/fd/{}{own}", folder.as_raw_fd()));
        let file = make(&path, process.user).or_else(|e| match e.kind() {
            ErrorKind::AlreadyExists => join(&path, process.user),
            _ => Err(e),
        });
        let file = file.map_err(cannot)?;
        let mut watch = Self { process: process.clone(), path, _folder: folder, file, beat: 0 };
        watch.beat();
        Ok(watch)
    }

    /// Tells the process that it is still watched; at least once a second.
    pub fn beat(&mut self) {
        // Another watcher of the same process may count, too: any different number will do.
        self.beat = self.read(word::BEAT).unwrap_or(self.beat) + 1;
        let _ = self.write(word::BEAT, self.beat);
    }

    /// The newest counters; `None` before the process has answered.
    ///
    /// # Errors
    /// When the process has another version.
    pub fn counters(&self) -> Result<Option<Counters>, Problem> {
        match self.read(word::ANSWERED) {
            None | Some(0) => return Ok(None),
            Some(VERSION) => {}
            Some(other) => return Err(Problem::Version(self.process.number, other)),
        }
        // It writes ten times a second, for a few microseconds.
        Ok((0..1000).find_map(|_| self.whole()))
    }

    /// The counters, unless they were being written.
    fn whole(&self) -> Option<Counters> {
        let before = self.read(word::WRITTEN)?;
        let mut bytes = vec![0; COUNTER_WORDS * 8];
        self.file.read_exact_at(&mut bytes, word::COUNTERS as u64 * 8).ok()?;
        let after = self.read(word::WRITTEN)?;
        let words: Vec<u64> =
            bytes.chunks_exact(8).map(|b| u64::from_ne_bytes(b.try_into().unwrap())).collect();
        (before == after && before > 0 && before.is_multiple_of(2))
            .then(|| Counters::from_words(words[..].try_into().unwrap()))
    }

    /// Renews the request if the page was removed, by the process or by another watcher.
    ///
    /// # Errors
    /// As for [`open`](Watch::open).
    pub fn renew(&mut self) -> Result<(), Problem> {
        let same = fs::metadata(&self.path)
            .is_ok_and(|there| self.file.metadata().is_ok_and(|ours| ours.ino() == there.ino()));
        if !same || self.read(word::LEFT) == Some(1) {
            *self = Self::open(&self.process)?;
        }
        Ok(())
    }

    fn read(&self, at: usize) -> Option<u64> {
        let mut bytes = [0; 8];
        self.file.read_exact_at(&mut bytes, at as u64 * 8).ok()?;
        Some(u64::from_ne_bytes(bytes))
    }

    fn write(&self, at: usize, value: u64) -> io::Result<()> {
        self.file.write_all_at(&value.to_ne_bytes(), at as u64 * 8)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // After a renewal the name refers to the new page.
        let there = fs::symlink_metadata(&self.path).map(|there| there.ino());
        if self.file.metadata().is_ok_and(|ours| there.is_ok_and(|there| there == ours.ino())) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A new page that only the process's user may read and write.
fn make(path: &PathBuf, user: u32) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let file = options.read(true).write(true).create_new(true).mode(0o600).open(path)?;
    let filled = || {
        if file.metadata()?.uid() != user {
            fchown(&file, Some(user), None)?;
        }
        file.set_len(BYTES as u64)?;
        file.write_all_at(&VERSION.to_ne_bytes(), word::VERSION as u64 * 8)?;
        file.write_all_at(&MAGIC.to_ne_bytes(), word::MAGIC as u64 * 8)
    };
    if let Err(e) = filled() {
        let _ = fs::remove_file(path);
        return Err(e);
    }
    Ok(file)
}

/// The page that another watcher has created or left behind.
fn join(path: &PathBuf, user: u32) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
    let there = file.metadata()?;
    if there.uid() != user || there.len() != BYTES as u64 || !there.is_file() {
        return Err(io::Error::other("a file of another kind is in the way"));
    }
    Ok(file)
}
