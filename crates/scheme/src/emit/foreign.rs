//! Calls of C functions: for each a C function that takes and gives values of Scheme.
//!
//! All arguments are checked before a string is copied, so that a condition leaves no copy behind. A function
//! without a header is declared by the types that the program gives it, under a name that no header has.

use super::{Emit, c_string};
use crate::foreign::{CType, Foreign, Kind};
use std::fmt::Write;

impl Emit<'_> {
    /// The headers, which come before everything else.
    pub(super) fn headers(&self) -> String {
        let mut headers: Vec<_> =
            self.program.foreign.iter().filter_map(|f| f.header.as_ref()).collect();
        headers.sort();
        headers.dedup();
        headers.iter().map(|header| format!("#include <{header}>\n")).collect()
    }

    /// The functions.
    pub(super) fn foreign(&self) -> String {
        if self.program.foreign.is_empty() {
            return String::new();
        }
        let stubs = self.program.foreign.iter().enumerate().map(|(i, f)| stub(i, f));
        format!("#include \"foreign.h\"\n{}\n", stubs.collect::<String>())
    }
}

fn stub(i: usize, foreign: &Foreign) -> String {
    let mut c = String::new();
    let types: Vec<&str> = foreign.params.iter().map(|t| t.c).collect();
    let function = match &foreign.header {
        Some(_) => foreign.name.clone(),
        None => {
            let types = if types.is_empty() { "void".into() } else { types.join(", ") };
            let result = foreign.result.c;
            let name = c_string(&foreign.name);
            writeln!(c, "extern {result} sch_extern{i}({types}) __asm__({name});")
                .expect("strings grow");
            format!("sch_extern{i}")
        }
    };
    let params: String = (0..types.len()).map(|j| format!(", V a{j}")).collect();
    let name = c_string(&foreign.name);
    writeln!(c, "SCH_U static V sch_c{i}(V *sp SCH_U{params})\n{{").expect("strings grow");
    for (j, is) in foreign.params.iter().enumerate() {
        let check = check(is, j);
        let wanted = c_string(&is.wanted());
        writeln!(c, "    if (SCH_UNLIKELY(!{check})) return sch_type_error(sp, {name}, {}, {wanted}, a{j});", j + 1)
            .expect("strings grow");
    }
    for (j, is) in foreign.params.iter().enumerate() {
        let given = given(is, j);
        let kind = if is.kind == Kind::String { "char *" } else { is.c };
        writeln!(c, "    {kind} c{j} = {given};").expect("strings grow");
    }
    let all: Vec<String> = (0..types.len()).map(|j| format!("c{j}")).collect();
    let call = format!("{function}({})", all.join(", "));
    let free: String = (foreign.params.iter().enumerate())
        .filter(|(_, is)| is.kind == Kind::String)
        .map(|(j, _)| format!("    free(c{j});\n"))
        .collect();
    match foreign.result.kind {
        Kind::Void => writeln!(c, "    {call};\n{free}    return SCH_UNSPECIFIED;\n}}"),
        kind => {
            let (is, back) = (foreign.result.c, back(kind));
            // A string that is given may lie in one that was taken.
            writeln!(
                c,
                "    {is} result = {call};\n    V v = {back}(result);\n{free}    return v;\n}}"
            )
        }
    }
    .expect("strings grow");
    c
}

/// Whether an argument can be passed.
fn check(is: &CType, j: usize) -> String {
    match is.kind {
        Kind::Signed(bits) => format!("sch_c_signed_p(a{j}, {bits})"),
        Kind::Unsigned(bits) => format!("sch_c_unsigned_p(a{j}, {bits})"),
        Kind::Real => format!("sch_number_p(a{j})"),
        Kind::Bool => format!("sch_boolean_p(a{j})"),
        Kind::String => format!("sch_c_string_p(a{j})"),
        Kind::Pointer => format!("sch_c_pointer_p(a{j})"),
        Kind::Void => unreachable!("the expander refuses it"),
    }
}

/// An argument as C's, after it was checked.
fn given(is: &CType, j: usize) -> String {
    match is.kind {
        Kind::Signed(_) | Kind::Unsigned(_) => format!("({})sch_c_bits(a{j})", is.c),
        Kind::Real => format!("({})sch_c_real(sp, a{j})", is.c),
        Kind::Bool => format!("a{j} == ALLOD_TRUE"),
        Kind::String => format!("sch_c_string(a{j})"),
        Kind::Pointer => format!("sch_c_pointer(a{j})"),
        Kind::Void => unreachable!("the expander refuses it"),
    }
}

/// What makes a value of Scheme of a result.
fn back(kind: Kind) -> &'static str {
    match kind {
        Kind::Signed(_) => "sch_c_from_signed",
        Kind::Unsigned(_) => "sch_c_from_unsigned",
        Kind::Real => "sch_float",
        Kind::Bool => "allod_bool",
        Kind::String => "sch_c_from_string",
        Kind::Pointer => "sch_c_from_pointer",
        Kind::Void => unreachable!("it has no result"),
    }
}
