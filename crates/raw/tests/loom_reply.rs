//! Models of the reply channel: every interleaving and every reordering that the memory model
//! allows, up to a bound on preemptions.
//!
//! Run with `scripts/test-loom.sh`.
#![cfg(loom)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use loom::cell::UnsafeCell;
use loom::thread;
use purlin_raw::model::model;
use purlin_raw::{ReplyReceiver, oneshot};

/// Reply whose accesses loom checks, and whose drop is observable through `alive`.
struct Checked {
    content: UnsafeCell<u32>,
    alive: Arc<()>,
}

impl Checked {
    fn new(alive: &Arc<()>) -> Self {
        Self { content: UnsafeCell::new(7), alive: Arc::clone(alive) }
    }

    fn read(self) -> u32 {
        assert!(Arc::strong_count(&self.alive) > 1);
        // SAFETY: the reply is owned here; loom checks the access.
        self.content.with(|content| unsafe { *content })
    }
}

impl Drop for Checked {
    fn drop(&mut self) {
        // SAFETY: the reply is owned here; loom checks the access.
        self.content.with_mut(|content| unsafe { *content = 0 });
    }
}

/// Waker that counts its wakes and unparks a thread of the model.
struct Unpark {
    thread: Option<thread::Thread>,
    wakes: AtomicUsize,
    /// Written where the waker is made, and read where it is used.
    made: UnsafeCell<()>,
}

// SAFETY: no thread writes the cell again; loom checks that its creation is visible.
unsafe impl Sync for Unpark {}
// SAFETY: as above.
unsafe impl Send for Unpark {}

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.made.with(|_| ());
        self.wakes.fetch_add(1, Ordering::Relaxed);
        if let Some(thread) = &self.thread {
            thread.unpark();
        }
    }
}

fn unpark(thread: Option<thread::Thread>) -> Arc<Unpark> {
    Arc::new(Unpark { thread, wakes: AtomicUsize::new(0), made: UnsafeCell::new(()) })
}

fn here() -> Arc<Unpark> {
    unpark(Some(thread::current()))
}

fn no_thread() -> Arc<Unpark> {
    unpark(None)
}

fn waker(unpark: &Arc<Unpark>) -> Waker {
    Waker::from(Arc::clone(unpark))
}

fn poll(answer: &mut ReplyReceiver<Checked>, unpark: &Arc<Unpark>) -> Poll<Option<u32>> {
    let poll = answer.poll(&Context::from_waker(&waker(unpark)));
    poll.map(|answer| answer.map(Checked::read))
}

#[test]
fn reply_is_seen_by_poll_or_wakes_the_waiter_and_is_dropped_once() {
    model(|| {
        let (unpark, alive) = (here(), Arc::new(()));
        let (reply, mut answer) = oneshot();
        let value = Checked::new(&alive);
        let replier = thread::spawn(move || assert!(reply.send(value).is_ok()));
        let mut waits = 0;
        let seen = loop {
            match poll(&mut answer, &unpark) {
                Poll::Ready(seen) => break seen,
                Poll::Pending => {
                    waits += 1;
                    thread::park();
                }
            }
        };
        assert_eq!(seen, Some(7));
        replier.join().unwrap();
        assert_eq!(unpark.wakes.load(Ordering::Relaxed), usize::from(waits > 0));
        assert_eq!((Arc::strong_count(&alive), Arc::strong_count(&unpark)), (1, 1));
    });
}

#[test]
fn dropped_replier_is_seen_by_poll_or_wakes_the_waiter() {
    model(|| {
        let unpark = here();
        let (reply, mut answer) = oneshot::<Checked>();
        let replier = thread::spawn(move || drop(reply));
        let seen = loop {
            match poll(&mut answer, &unpark) {
                Poll::Ready(seen) => break seen,
                Poll::Pending => thread::park(),
            }
        };
        assert_eq!(seen, None);
        replier.join().unwrap();
        assert_eq!(Arc::strong_count(&unpark), 1);
    });
}

#[test]
fn reply_wakes_only_the_last_waker_or_is_seen_by_poll() {
    model(|| {
        let (first, alive) = (no_thread(), Arc::new(()));
        let (reply, mut answer) = oneshot();
        assert!(poll(&mut answer, &first).is_pending());
        let value = Checked::new(&alive);
        let replier = thread::spawn(move || assert!(reply.send(value).is_ok()));
        let last = no_thread();
        let seen = poll(&mut answer, &last);
        replier.join().unwrap();
        let woken = (first.wakes.load(Ordering::Relaxed), last.wakes.load(Ordering::Relaxed));
        match seen {
            Poll::Pending => {
                assert_eq!(woken, (0, 1), "it waits with the last waker alone");
                assert_eq!(poll(&mut answer, &last), Poll::Ready(Some(7)));
            }
            Poll::Ready(seen) => {
                assert_eq!(seen, Some(7));
                assert_eq!(woken, (1, 0), "it came before the waker was changed");
            }
        }
        drop(answer);
        assert_eq!(Arc::strong_count(&alive), 1);
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&last)), (1, 1));
    });
}

#[test]
fn reply_to_a_dropped_waiter_is_returned_or_dropped_with_the_wait() {
    for looks in [false, true] {
        model(move || {
            let (unpark, alive) = (no_thread(), Arc::new(()));
            let (reply, mut answer) = oneshot();
            assert!(poll(&mut answer, &unpark).is_pending());
            let value = Checked::new(&alive);
            let replier = thread::spawn(move || match reply.send(value) {
                Ok(()) => 0,
                Err(back) => back.read(),
            });
            // One poll with another waker, and none after it.
            let seen = if looks { poll(&mut answer, &no_thread()) } else { Poll::Pending };
            drop(answer);
            let back = replier.join().unwrap();
            assert!(back == 0 || seen.is_pending(), "it is not both here and there");
            assert_eq!((Arc::strong_count(&alive), Arc::strong_count(&unpark)), (1, 1));
        });
    }
}

#[test]
fn both_ends_may_be_dropped_concurrently() {
    for polled in [false, true] {
        model(move || {
            let unpark = no_thread();
            let (reply, mut answer) = oneshot::<Checked>();
            assert!(!polled || poll(&mut answer, &unpark).is_pending());
            let replier = thread::spawn(move || drop(reply));
            drop(answer);
            replier.join().unwrap();
            assert_eq!(Arc::strong_count(&unpark), 1);
        });
    }
}
