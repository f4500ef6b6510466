//! A type as a condition in C, by which a checked program tests what was inferred.

use super::lattice::kind::*;
use super::lattice::{Rtd, Type};

/// The C functions that tell values of a kind from all others.
const TESTS: [(u32, &str); 13] = [
    (RATIO, "sch_ratio_p"),
    (FLOAT, "sch_float_p"),
    (PAIR, "sch_pair_p"),
    (NIL, "sch_null_p"),
    (FALSE, "sch_not"),
    (TRUE, "sch_true_p"),
    (CHAR, "sch_char_p"),
    (STRING, "sch_string_p"),
    (SYMBOL, "sch_symbol_p"),
    (VECTOR, "sch_vector_p"),
    (BYTES, "sch_bytevector_p"),
    (PROCEDURE, "sch_procedure_p"),
    (OTHER, "sch_other_p"),
];

impl Type {
    /// The condition in C that a local's value has this type, or nothing where any has.
    pub fn condition(self, local: &str) -> Option<String> {
        if self == Type::ANY {
            return None;
        }
        let kinds = TESTS.iter().filter(|(kind, _)| self.has(*kind));
        let mut any: Vec<String> = kinds
            .map(|(kind, test)| {
                if self.may_be_literal() || kind & (PAIR | STRING | VECTOR | BYTES) == 0 {
                    format!("{test}({local})")
                } else {
                    format!("({test}({local}) && !sch_is_constant({local}))")
                }
            })
            .collect();
        if self.has(INT) {
            let (least, most) = self.limits();
            let limit =
                |bound: Option<i64>, none: &str| bound.map_or(none.into(), |b| format!("{b}"));
            let (least, most) = (limit(least, "INT64_MIN"), limit(most, "INT64_MAX"));
            any.push(format!("sch_int_between({local}, {least}, {most})"));
        }
        match self.rtd() {
            Rtd::None => {}
            Rtd::Of(global) => any.push(format!("sch_record_p({local}, G[{}])", global.0)),
            Rtd::Any => any.push(format!("sch_any_record_p({local})")),
        }
        Some(if any.is_empty() { "false".into() } else { any.join(" || ") })
    }
}
