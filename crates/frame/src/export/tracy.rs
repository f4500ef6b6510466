//! Frame marks, plots, zones and messages for Tracy. Nothing is sent unless the program has started
//! a [`tracy_client::Client`].

use core::fmt::Display;
use std::string::ToString;
#[cfg(feature = "tags")]
use tracy_client::PlotName;
use tracy_client::{Client, Span, frame_name, plot_name};

/// A phase's zone.
pub(super) type Zone = Option<Span>;

/// A zone of a phase's name.
#[inline]
pub(super) fn phase(name: &'static str) -> Zone {
    Client::running().map(|client| client.span_alloc(Some(name), "", file!(), line!(), 0))
}

/// The phase is over.
#[inline]
pub(super) fn leave(zone: Zone) {
    drop(zone);
}

/// A frame has ended and used this many bytes.
#[inline]
pub(super) fn frame_ended(used: usize) {
    if let Some(client) = Client::running() {
        client.secondary_frame_mark(frame_name!("allod frame"));
        client.plot(plot_name!("allod frame bytes"), used as f64);
        plot_tags(&client);
    }
}

/// The bytes of each tag's allocations so far, one plot each.
#[cfg(feature = "tags")]
fn plot_tags(client: &Client) {
    use std::format;
    use std::sync::OnceLock;
    static PLOTS: [OnceLock<PlotName>; crate::tags::MAX_TAGS] =
        [const { OnceLock::new() }; crate::tags::MAX_TAGS];
    for (plot, used) in PLOTS.iter().zip(crate::tags::snapshot().iter()) {
        if used.bytes > 0 {
            let new = || PlotName::new_leak(format!("allod tag {}", used.name));
            client.plot(*plot.get_or_init(new), used.bytes as f64);
        }
    }
}

/// Without tags there is nothing to plot.
#[cfg(not(feature = "tags"))]
fn plot_tags(_: &Client) {}

/// A message.
#[allow(dead_code, reason = "called by the features `budgets` and `behaviour`")]
pub(super) fn warn(what: &impl Display) {
    if let Some(client) = Client::running() {
        client.message(&what.to_string(), 0);
    }
}
