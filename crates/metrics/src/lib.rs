//! The state of a program's heap as [OpenMetrics](https://prometheus.io/docs/specs/om/open_metrics_spec/) text, served
//! on a Unix socket or a loopback port.
//!
//! | module | keeps |
//! | --- | --- |
//! | `text` | the text, from the heap's statistics |
//! | `address` | where it is served, and who listens there already |
//! | `server` | the thread that answers |
//!
//! ```
//! let text = allod_metrics::text();
//! assert!(text.contains("# TYPE allod_purged_bytes counter\n"));
//! assert!(text.ends_with("# EOF\n"));
//! ```

mod address;
mod server;
mod text;

pub use address::Error;
pub use server::{Server, serve};
pub use text::text;

/// The programs on this crate's page are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod page_of_the_crate {}
