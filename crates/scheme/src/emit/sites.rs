//! Which line of the C stands for which place in the source.
//!
//! Programs are compiled with tables of lines, so that an error finds the lines of the calls that led
//! to it, and by this table their places. Nothing is stored while a program runs.

use crate::straight::{Flow, ProcId};
use allod_scheme_datum::Place;
use std::fmt::Write;

/// The place of each line, as far as it has one.
#[derive(Debug, Default)]
pub(super) struct Sites {
    now: Option<Place>,
    /// Where lines begin in the text, with their places and procedures.
    noted: Vec<(usize, Place, Option<ProcId>)>,
}

impl Sites {
    /// The lines that follow are for a call or a primitive at this place; the prelude has none.
    pub(super) fn at(&mut self, at: Place) {
        if at.file != 0 && at.line != 0 {
            self.now = Some(at);
        }
    }

    /// The lines that follow have no place.
    pub(super) fn nowhere(&mut self) {
        self.now = None;
    }

    /// A line begins here.
    pub(super) fn note(&mut self, offset: usize, proc: Option<ProcId>) {
        if let Some(at) = self.now {
            self.noted.push((offset, at, proc));
        }
    }

    /// The table in C, for a text that comes after so many lines.
    pub(super) fn table(&self, text: &str, before: usize, flow: &Flow, files: &[String]) -> String {
        let mut c = String::from("static const char *const files[] = {");
        for file in files {
            write!(c, "{}, ", super::c_string(file)).expect("strings grow");
        }
        c += "NULL};\nstatic const struct sch_site sites[] = {\n";
        let (mut line, mut seen) = (before + 1, 0);
        for (offset, at, proc) in &self.noted {
            line += text[seen..*offset].matches('\n').count();
            seen = *offset;
            let name =
                proc.map_or("NULL".into(), |id| super::c_string(&flow.procs[id.0 as usize].name));
            writeln!(c, "    {{{line}, {}, {}, {}, {name}}},", at.file, at.line, at.column)
                .expect("strings grow");
        }
        c += "    {UINT32_MAX, 0, 0, 0, NULL}\n};\n";
        c
    }
}
