//! Record types, several values, errors as objects.

use crate::failure::{Failure, Kind};
use crate::primitives;
use crate::printing::type_name;
use crate::value::{self, V, types};

/// A new record type.
#[unsafe(no_mangle)]
pub extern "C" fn sch_make_rtd(name: V, fields: V) -> V {
    value::fields(types::RTD, &[name, fields])
}

primitives! {
    fn sch_record_error(is, rtd, who) -> V {
        let (who, name) = (who.symbol_name(), type_name(rtd));
        Err(Failure::new(format!("{who}: argument 1 must be a record of type {name}, not"), &[is]))
    }
    fn sch_error_object_message(v) -> V {
        if is_error(v) { Ok(v.field(2)) } else { Ok(value::string("")) }
    }
    fn sch_error_object_irritants(v) -> V {
        if is_error(v) { Ok(v.field(3)) } else { Ok(V::NIL) }
    }
}

/// The list of several values, or of one.
#[unsafe(no_mangle)]
pub extern "C" fn sch_values_to_list(v: V) -> V {
    if v.is(types::VALUES) { value::list(v.items()) } else { value::list(&[v]) }
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_make_error(kind: V, message: V, irritants: V) -> V {
    value::fields(types::ERROR, &[kind, message, irritants])
}

pub fn is_error(v: V) -> bool {
    v.is(types::ERROR)
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_error_object_p(v: V) -> bool {
    is_error(v)
}

fn is_of_kind(v: V, kind: Kind) -> bool {
    is_error(v) && v.field(1) == V::small(kind as i64)
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_file_error_p(v: V) -> bool {
    is_of_kind(v, Kind::File)
}

#[unsafe(no_mangle)]
pub extern "C" fn sch_read_error_p(v: V) -> bool {
    is_of_kind(v, Kind::Read)
}
