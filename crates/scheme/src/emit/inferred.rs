//! In checked programs, the checks that locals have the types that were inferred.
//!
//! What fails here is a fault of the compiler, not of the program.

use super::{Emit, c_string};
use crate::core::Var;
use crate::passes::types::Types;
use crate::straight::Rhs;
use allod_scheme_datum::Place;

/// What was inferred, and the names of files, for messages.
pub(super) struct Inferred<'a> {
    pub(super) types: &'a Types,
    pub(super) files: &'a [String],
}

/// Where a value is computed, if that is known.
pub(super) fn place(rhs: &Rhs) -> Place {
    match rhs {
        Rhs::Prim(.., at) | Rhs::Call(.., at) => *at,
        _ => Place::default(),
    }
}

impl Emit<'_> {
    /// Checks that a local, which has just been bound, has its type.
    pub(super) fn check_type(&mut self, var: Var, at: Place) {
        let Some(Inferred { types, files }) = &self.inferred else { return };
        let Some(is) = types.inferred(var).filter(|_| !self.flow.raw.contains(&var)) else {
            return;
        };
        let value = format!("v{}", var.0);
        let Some(condition) = is.condition(&value) else { return };
        let proc = self.here.map(|id| &self.flow.procs[id.0 as usize]);
        let at = if at.line == 0 { proc.map_or(at, |proc| proc.at) } else { at };
        let file = files.get(at.file as usize).map_or("", |name| name);
        let name = &self.program.vars[var.0 as usize].name;
        let proc = proc.map_or("the top level", |proc| &proc.name);
        let claim = format!("{file}:{}:{}: {name} in {proc}: {}", at.line, at.column, is.shown());
        self.line(&format!("if (!({condition})) sch_not_inferred({}, {value});", c_string(&claim)));
    }
}
