//! Making the built-in objects, unchecked: the layer for compilers.
//!
//! May use: `base`, `data`, `memory`. Keeps nothing but the symbols, which lie in no region and live for
//! ever.
//!
//! Two styles stand side by side. **Typed allocation** ([`int`], [`pair`], …) is inlined: its type id is
//! a constant, so it is a bump, a header store and the fields. The **constructors** ([`mk_int`],
//! [`mk_pair`], …), one for each built-in type, are calls that go by the type's record; they suit
//! interpreters and callers in other languages.
//!
//! All return the empty value when memory is out, and check nothing about the values that go in: those
//! must live at least as long as the region (the closure rule). Mutation goes through
//! [`barrier`](crate::barrier).
//!
//! | file | keeps |
//! | --- | --- |
//! | `inlined` | typed allocation |
//! | `batch` | many objects by one allocation |
//! | `dict` | new dictionaries, and tables that grow |
//! | `constructors` | calls that go by the type's record |
//! | `symbol` | interned names |

pub mod batch;
mod constructors;
pub(crate) mod dict;
mod inlined;
pub mod symbol;

pub use crate::data::read::{byte_slice, slots};
pub use constructors::{
    mk_array, mk_box, mk_bytes, mk_char, mk_closure, mk_dict, mk_float, mk_int, mk_name, mk_pair,
    mk_string, mk_symbol, mk_text, object,
};
pub use inlined::{array, boxed, bytes, closure, float, int, pair, string, typed};
