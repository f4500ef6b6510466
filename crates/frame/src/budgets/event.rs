//! The event when a limit is exceeded, and its callback.

use allod_frame_core::forks::Guarded;
use core::fmt;
use core::panic::Location;
use std::cell::Cell;
use std::sync::Arc;
use std::thread_local;

/// Whose budget an [`Event`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// A tag's, by its name.
    Tag(&'static str),
    /// The thread's that allocates.
    Thread,
    /// The whole program's.
    Program,
}

/// Which limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The soft limit: the allocation is made.
    Soft,
    /// The hard limit: the allocation is refused.
    Hard,
}

/// A limit is exceeded.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    /// Whose budget.
    pub whose: Whose,
    /// Which limit.
    pub level: Level,
    /// Bytes in use, without the allocation.
    pub used: usize,
    /// The limit in bytes.
    pub limit: usize,
    /// Bytes that the allocation requests.
    pub asked: usize,
    /// The tag in force; empty for none.
    pub tag: &'static str,
    /// The allocation's place in the source.
    pub location: &'static Location<'static>,
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.whose {
            Whose::Tag(name) => write!(f, "the budget of the tag `{name}`")?,
            Whose::Thread => f.write_str("the budget of this thread")?,
            Whose::Program => f.write_str("the budget of the program")?,
        }
        let (limit, end) = match self.level {
            Level::Soft => ("soft", "were given"),
            Level::Hard => ("hard", "were refused"),
        };
        let Event { used, limit: bytes, asked, location, .. } = self;
        write!(
            f,
            " exceeds its {limit} limit: {used} of {bytes} bytes in use, {asked} more {end}, \
             asked for at {location}"
        )?;
        if self.tag.is_empty() { Ok(()) } else { write!(f, " under the tag `{}`", self.tag) }
    }
}

/// The callback.
type Callback = dyn Fn(&Event) + Send + Sync;

static CALLBACK: Guarded<Option<Arc<Callback>>> = Guarded::new(None);

thread_local! {
    /// The thread is inside the callback.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
    /// The last refusal, until it is queried.
    static REFUSED: Cell<Option<Event>> = const { Cell::new(None) };
}

/// Sets the callback for exceeded limits, replacing the previous one.
///
/// The callback runs on the thread that allocates, before the allocation is made or refused. It may
/// do what any code may: change limits, and allocate, also in frames of this thread. What it
/// allocates is charged, but neither refused nor reported: the callback is never called from within
/// itself. A panic in it passes through the allocation, which is not made.
///
/// ```
/// use allod_frame::{budgets::{self, Level, Limits, Of}, tags::Tag, thread};
/// static UI: Tag = Tag::new("budgets-on-event");
/// budgets::on_event(|event| {
///     if event.level == Level::Soft {
///         budgets::set(Of::Tag(&UI), Limits::none()); // changed at run time
///     }
/// });
/// budgets::set(Of::Tag(&UI), Limits::none().soft(100).hard(200));
/// thread::frame(|f| UI.with(|| {
///     f.alloc([0u8; 150]); // exceeds the soft limit: the callback takes the limits away
///     f.alloc([0u8; 1000]);
/// }));
/// ```
pub fn on_event(callback: impl Fn(&Event) + Send + Sync + 'static) {
    let callback: Arc<Callback> = Arc::new(callback);
    // The previous one is dropped without the lock, because its drop may call this function.
    let _before = CALLBACK.with(|current| current.replace(callback));
}

/// The last allocation of this thread that a budget refused; each is returned once.
///
/// After an `Err` of a `try_` method, this tells whether a budget was the reason; `None` means that
/// memory is out.
#[must_use]
pub fn refused() -> Option<Event> {
    REFUSED.take()
}

/// True inside the callback.
pub(super) fn inside() -> bool {
    INSIDE.get()
}

/// Calls the callback, and keeps refusals.
pub(super) fn tell(event: &Event) {
    struct Leave;
    impl Drop for Leave {
        fn drop(&mut self) {
            INSIDE.set(false);
        }
    }
    if !INSIDE.replace(true) {
        let _leave = Leave;
        crate::export::budget(event);
        let callback = CALLBACK.with(|current| current.clone());
        if let Some(callback) = callback {
            callback(event);
        }
    }
    if event.level == Level::Hard {
        REFUSED.set(Some(*event));
    }
}

/// Memory is out, and no budget is the reason.
pub(crate) fn memory_is_out() {
    REFUSED.set(None);
}

/// Panics with the reason when a budget refused the allocation.
pub(crate) fn panic_if_refused() {
    if let Some(event) = refused() {
        panic!("{event}");
    }
}
