//! Tests of the stage: each part is dropped once, wherever it unwinds.

use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::Stage;

/// Polls with a waker that does nothing.
fn poll<F, Fut: Future>(
    stage: std::pin::Pin<&mut Stage<F, Fut>>,
    start: impl FnOnce(F) -> Fut,
) -> Poll<Option<Fut::Output>> {
    stage.poll(start, &mut Context::from_waker(Waker::noop()))
}

#[test]
fn the_function_becomes_a_future_that_is_dropped_when_it_is_ready() {
    let held = Rc::new(());
    let mut stage = pin!(Stage::new((held.clone(), 7)));
    let polled = poll(stage.as_mut(), |(held, number)| async move {
        let _held = held;
        number
    });
    assert_eq!(polled, Poll::Ready(Some(7)));
    assert_eq!(Rc::strong_count(&held), 1);
    assert_eq!(poll(stage, |_| unreachable!("the function was called before")), Poll::Ready(None));
}

#[test]
fn a_function_that_was_not_called_is_dropped_with_the_stage_or_by_clear() {
    let held = Rc::new(());
    drop(Stage::<_, std::future::Ready<()>>::new(held.clone()));
    assert_eq!(Rc::strong_count(&held), 1);

    let mut stage = pin!(Stage::new(held.clone()));
    stage.as_mut().clear();
    assert_eq!(Rc::strong_count(&held), 1);
    stage.as_mut().clear();
    assert_eq!(poll(stage, |_| ready(())), Poll::Ready(None));
}

#[test]
fn a_pending_future_is_dropped_with_the_stage_or_by_clear() {
    let held = Rc::new(());
    let start = |held: Rc<()>| async move {
        pending::<()>().await;
        drop(held);
    };
    {
        let mut stage = pin!(Stage::new(held.clone()));
        assert_eq!(poll(stage.as_mut(), start), Poll::Pending);
        assert_eq!(Rc::strong_count(&held), 2);
    }
    assert_eq!(Rc::strong_count(&held), 1);

    let mut stage = pin!(Stage::new(held.clone()));
    assert_eq!(poll(stage.as_mut(), start), Poll::Pending);
    stage.as_mut().clear();
    assert_eq!(Rc::strong_count(&held), 1);
    assert_eq!(poll(stage, start), Poll::Ready(None));
}

#[test]
fn a_start_that_unwinds_leaves_nothing() {
    let held = Rc::new(());
    let mut stage = pin!(Stage::<_, std::future::Ready<()>>::new(held.clone()));
    let polled = catch_unwind(AssertUnwindSafe(|| poll(stage.as_mut(), |_| panic!("start"))));
    assert!(polled.is_err());
    assert_eq!(Rc::strong_count(&held), 1);
    assert_eq!(poll(stage, |_| ready(())), Poll::Ready(None));
}

#[test]
fn a_future_that_unwinds_stays_until_it_is_cleared() {
    let held = Rc::new(());
    let mut stage = pin!(Stage::new(held.clone()));
    let polled = catch_unwind(AssertUnwindSafe(|| {
        poll(stage.as_mut(), |held| {
            std::future::poll_fn(move |_| -> Poll<()> {
                let _held = &held;
                panic!("poll")
            })
        })
    }));
    assert!(polled.is_err());
    assert_eq!(Rc::strong_count(&held), 2);
    stage.clear();
    assert_eq!(Rc::strong_count(&held), 1);
}

#[test]
fn a_destructor_that_unwinds_runs_once() {
    struct Unwinds(Rc<()>);
    impl Drop for Unwinds {
        fn drop(&mut self) {
            let _held = &self.0;
            panic!("destructor")
        }
    }
    let held = Rc::new(());
    let mut stage = pin!(Stage::new(Unwinds(held.clone())));
    let start = |unwinds| {
        std::future::poll_fn(move |_| {
            let _unwinds = &unwinds;
            Poll::Ready(())
        })
    };
    let polled = catch_unwind(AssertUnwindSafe(|| poll(stage.as_mut(), start)));
    assert!(polled.is_err());
    assert_eq!(Rc::strong_count(&held), 1);
    stage.clear();
}
