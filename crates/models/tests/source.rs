//! The span source: whoever needs new units gets them, and what is freed meanwhile is filed.

use allod_models::base::layout::UNIT;
use allod_models::base::layout::Unit;
use allod_models::source::SOURCE;
use allod_models::source::waiting::Waiting;
use allod_models::vm;
use loom::sync::Arc;
use loom::thread;

fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Loom reports a thread that sleeps for ever.
#[test]
fn threads_that_need_units_at_once_all_get_some() {
    explore(2, || {
        let others = [(); 2].map(|()| thread::spawn(|| assert!(SOURCE.take_new(|| ()))));
        assert!(SOURCE.take_new(|| ()));
        others.into_iter().for_each(|t| t.join().unwrap());
    });
}

#[test]
fn a_thread_interrupted_while_it_opens_units_is_told_so() {
    explore(3, || {
        let other = thread::spawn(|| assert!(SOURCE.take_new(|| ())));
        assert!(SOURCE.take_new(|| {
            // A signal handler needs units, too. It gets those that the other thread has opened, or none.
            SOURCE.take_new(|| unreachable!("its turn already"));
        }));
        other.join().unwrap();
    });
}

#[test]
fn what_is_freed_in_the_middle_of_a_change_is_filed_once() {
    explore(3, || {
        let other = thread::spawn(|| {
            SOURCE.while_held(|| SOURCE.give(Unit::new(1)));
            SOURCE.give(Unit::new(2));
        });
        SOURCE.while_held(|| {
            SOURCE.give(Unit::new(3));
            SOURCE.give(Unit::new(4));
        });
        other.join().unwrap();
        assert_eq!(SOURCE.filed(), [1, 2, 3, 4]);
    });
}

#[test]
fn a_span_that_waits_was_let_go_of_before_it_is_taken_out() {
    explore(3, || {
        let waiting = Arc::new(Waiting::new());
        let others = [1, 2].map(|n| {
            let waiting = waiting.clone();
            thread::spawn(move || {
                vm::write(n * UNIT, 7);
                // SAFETY: the unit is this thread's.
                unsafe { waiting.push(Unit::new(n), 1) };
            })
        });
        let mut taken = Vec::new();
        let mut take = || {
            for (unit, units) in waiting.take_all() {
                vm::write(unit.index() * UNIT, 0);
                taken.push((unit.index(), units));
            }
        };
        take();
        others.into_iter().for_each(|t| t.join().unwrap());
        take();
        taken.sort_unstable();
        assert_eq!(taken, [(1, 1), (2, 1)]);
        assert!(waiting.is_empty());
    });
}
