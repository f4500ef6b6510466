//! Values and objects as they lie in memory: what words and headers mean, and what can be read from them.
//!
//! May use: `base`. Knows no region: nothing here allocates, and no value is stored in an object that is
//! not new. An object is a header and what the record of its type says, a pair two values; whoever reads one vouches that it
//! is alive.
//!
//! | file | keeps |
//! | --- | --- |
//! | `value` | values and headers, words both |
//! | `ids` | the numbers of the built-in types |
//! | `record` | what a type's record says |
//! | `read` | text, bytes and slots of built-in objects |
//! | `table` | the tables of dictionaries |
//! | `types` | all records, and the length and the slots of any object |
//! | `compare`, `print` | equality, hashes and text of whole values |

pub mod compare;
pub mod ids;
pub mod print;
pub mod read;
pub mod record;
pub mod table;
pub mod types;
pub mod value;
