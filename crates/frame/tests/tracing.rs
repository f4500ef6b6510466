//! Frames and phases are spans, budgets and findings events.
#![cfg(feature = "tracing")]

use allod_frame::{Arena, Phases};
use std::collections::HashMap;
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::with_default;
use tracing::{Event, Metadata, Subscriber};

/// Bytes in a frame that the feature `budgets` notes its charge in.
const CHARGE: usize = if cfg!(feature = "budgets") { 40 } else { 0 };

/// Writes down what happens, a line each.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    lines: Vec<String>,
    names: HashMap<u64, &'static str>,
}

/// Fields as text.
#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {}={value:?}", field.name()).unwrap();
    }
}

impl Log {
    fn line(&self, line: String) {
        self.0.lock().unwrap().lines.push(line);
    }

    fn name(&self, span: &Id) -> &'static str {
        self.0.lock().unwrap().names[&span.into_u64()]
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "allod"
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields::default();
        span.record(&mut fields);
        let name = span.metadata().name();
        self.line(format!("new {name}{}", fields.0));
        let mut inner = self.0.lock().unwrap();
        let id = inner.names.len() as u64 + 1;
        inner.names.insert(id, name);
        Id::from_u64(id)
    }
    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut fields = Fields::default();
        values.record(&mut fields);
        self.line(format!("{}{}", self.name(span), fields.0));
    }
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields::default();
        event.record(&mut fields);
        self.line(format!("{}{}", event.metadata().level(), fields.0));
    }
    fn enter(&self, span: &Id) {
        self.line(format!("enter {}", self.name(span)));
    }
    fn exit(&self, span: &Id) {
        self.line(format!("exit {}", self.name(span)));
    }
}

/// What happens during `work`.
fn log(work: impl FnOnce()) -> Vec<String> {
    let log = Log::default();
    with_default(log.clone(), work);
    let mut inner = log.0.lock().unwrap();
    std::mem::take(&mut inner.lines)
}

#[test]
fn a_frame_is_a_span_with_its_place_and_bytes_and_phases_are_spans_within() {
    let lines = log(|| {
        let phases = Phases::new();
        Arena::new().frame(|f| {
            phases.run("physics", f, |f| *f.alloc([1u64; 10]));
            f.scope(|s| *s.alloc(0u64)); // a scope is no frame
        });
    });
    let line = line!() - 5;
    assert_eq!(lines[0], format!("new frame at={}:{line}:22", file!()));
    let rest = [
        "enter frame",
        "new phase name=\"physics\"",
        "enter phase",
        &format!("phase bytes={}", 80 + CHARGE),
        "exit phase",
        &format!("frame bytes={}", 80 + CHARGE),
        "exit frame",
    ];
    assert_eq!(lines[1..], rest);
}

#[test]
fn a_span_ends_with_its_frame_also_by_panic_and_by_finish() {
    let lines = log(|| {
        let caught = std::panic::catch_unwind(|| Arena::new().frame(|_| panic!("within")));
        assert!(caught.is_err());
        let finished = Arena::new().finish(|f| f.alloc([0u8; 3]));
        assert_eq!(finished.len(), 3);
    });
    assert_eq!(lines.iter().filter(|line| *line == "exit frame").count(), 2);
    assert_eq!(lines[lines.len() - 2..], [&format!("frame bytes={}", 3 + CHARGE), "exit frame"]);
}

#[test]
#[cfg(feature = "budgets")]
fn an_exceeded_budget_is_an_event() {
    use allod_frame::budgets::{self, Limits, Of};
    use allod_frame::tags::Tag;
    static TAG: Tag = Tag::new("traced-budget");
    let lines = log(|| {
        budgets::set(Of::Tag(&TAG), Limits::none().soft(10).hard(100));
        Arena::new().frame(|f| {
            TAG.with(|| {
                f.alloc([0u8; 50]);
                assert!(f.try_alloc([0u8; 51]).is_err());
            });
        });
    });
    let events: Vec<_> = lines.iter().filter(|line| line.starts_with("WARN")).collect();
    assert_eq!(events.len(), 2, "{lines:?}");
    assert!(events[0].contains("soft limit: 0 of 10 bytes in use, 50 more were given"));
    assert!(events[1].contains("hard limit: 50 of 100 bytes in use, 51 more were refused"));
    assert!(events[0].contains("kind=\"budget\" tag=\"traced-budget\""));
}

#[test]
#[cfg(feature = "behaviour")]
fn a_finding_is_an_event_the_first_time() {
    use allod_frame::behaviour::WINDOW;
    use allod_frame::tags::Tag;
    static TAG: Tag = Tag::new("traced-finding");
    let lines = log(|| {
        let _tagged = TAG.enter();
        let mut arena = Arena::new();
        for _ in 0..3 * WINDOW {
            arena.frame(|f| f.used());
        }
    });
    let events: Vec<_> = lines.iter().filter(|line| line.starts_with("WARN")).collect();
    assert_eq!(events.len(), 1, "{events:?}");
    assert!(events[0].contains("kind=\"finding\" tag=\"traced-finding\""), "{events:?}");
    assert!(events[0].contains("frames hold nothing"), "{events:?}");
}

#[test]
#[cfg(feature = "behaviour")]
fn a_subscriber_may_use_the_shared_pool_that_a_finding_is_about() {
    use allod_frame::{SharedPool, thread};
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

    static SEEN: AtomicUsize = AtomicUsize::new(0);
    struct Looks(Arc<SharedPool<u32>>);
    impl Subscriber for Looks {
        fn enabled(&self, metadata: &Metadata<'_>) -> bool {
            metadata.target() == "allod" && metadata.is_event()
        }
        fn event(&self, _: &Event<'_>) {
            SEEN.store(self.0.len(), SeqCst);
        }
        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }
        fn record(&self, _: &Id, _: &Record<'_>) {}
        fn record_follows_from(&self, _: &Id, _: &Id) {}
        fn enter(&self, _: &Id) {}
        fn exit(&self, _: &Id) {}
    }
    let (done, is_done) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let pool = Arc::new(SharedPool::new(1));
        with_default(Looks(pool.clone()), || {
            for tick in 0..1000 {
                thread::frame(|f| *f.alloc(tick));
                pool.insert(tick);
            }
        });
        done.send(()).unwrap();
    });
    let waited = is_done.recv_timeout(std::time::Duration::from_secs(20));
    assert!(waited.is_ok(), "it waits for itself");
    assert!(SEEN.load(SeqCst) > 200);
}
