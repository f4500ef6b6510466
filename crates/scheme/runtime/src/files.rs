//! Files by name.

use crate::failure::{Failure, Kind, Outcome};
use crate::ports::{self, Input, Output, Way};
use crate::primitives;
use crate::strings::checked;
use crate::value::V;
use std::fs::{self, File};
use std::io;

fn or_fail<T>(done: io::Result<T>, what: &str, name: V) -> Outcome<T> {
    done.map_err(|error| {
        let message = format!("cannot {what} {}: {error}", name.text());
        Failure { kind: Kind::File, message, irritants: Vec::new() }
    })
}

primitives! {
    /// Opens a file: 0 to read text, 1 to write it, 2 and 3 the same for bytes.
    fn sch_open_file(name, mode) -> V {
        let mode = mode.as_small().unwrap_or(0);
        let path = checked("open-file", 1, name)?.text();
        let way = if mode % 2 == 0 {
            Way::In(Input::of(Some(or_fail(File::open(path), "open", name)?), Vec::new()))
        } else {
            Way::Out(Output::of(Some(or_fail(File::create(path), "write", name)?), false))
        };
        Ok(ports::open(way, mode >= 2))
    }
    fn sch_file_exists_p(name) -> bool { Ok(fs::exists(checked("file-exists?", 1, name)?.text()).unwrap_or(false)) }
    fn sch_delete_file(name) {
        let path = checked("delete-file", 1, name)?.text();
        or_fail(fs::remove_file(path), "delete", name)
    }
}
