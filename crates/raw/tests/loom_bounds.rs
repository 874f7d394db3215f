//! Models of mailbox bounds: the count, the wait list, and the list of spilled signals by which the
//! oldest messages are dropped.
//!
//! Run with `scripts/test-loom.sh`. All items are used as the layers above use them.
#![cfg(loom)]

mod queue;

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use loom::thread;
use purlin_raw::model::model;
use purlin_raw::{
    Address, Body, Bound, Code, ConvertedMessage, DropCounters, End, InTurn, NodeCore, Overflow,
    Owner, RuntimeTypes, SendError, SendMode, SendOutcome, SignalOutcome, Waiter,
};
use queue::Queue;

struct Ground;

impl RuntimeTypes for Ground {
    type Signal = ();
    type Local = ();
    type Shared = ();
    type ExitStatus = ();
    /// Number of messages that were queued when their receiver ended.
    type NodeState = Unread;

    fn has_state(&(): &()) -> bool {
        false
    }

    fn closed(unread: &Unread, end: &End<'_, Self>, &mut (): &mut ()) {
        unread.fetch_add(end.dropped as usize, Ordering::Relaxed);
    }

    fn undelivered(_: &Unread, &mut (): &mut (), (): ()) {}
}

/// A count. Not loom's atomic, so that it orders nothing.
type Unread = std::sync::Arc<AtomicUsize>;

impl Queue {
    /// Ends the process, so that the model leaks nothing.
    fn end(&self, process: Address<Ground, u32>) {
        // The signal fails if the process has ended already.
        let _ = process.signal(());
        self.run();
        assert!(process.has_ended());
    }
}

/// What a receiver does in each turn.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    /// Takes all messages.
    Takes,
    /// Takes nothing, and waits for something other than messages.
    Idles,
    /// Takes all messages, and ends in the first turn that took any.
    Ends,
}

struct Receiver(Does);

impl Body<Ground, u32> for Receiver {
    type Bound = Bound;
    type Future = Infallible;

    fn turn(
        mut code: Code<'_, Self>,
        me: InTurn<'_, Ground, u32>,
        _: &mut Context<'_>,
    ) -> Poll<()> {
        let does = code.start().expect("no turn takes it").0;
        let mut over = false;
        let mut handle_signal = |()| {
            over = true;
            SignalOutcome::Over
        };
        let mailbox = me.mailbox();
        if mailbox.has_signals() || mailbox.is_past_bound() {
            mailbox.fetch(true, &mut handle_signal);
        }
        let mut taken = 0;
        while does != Does::Idles && mailbox.receive(&mut handle_signal).is_some() {
            taken += 1;
        }
        if over || does == Does::Ends && taken > 0 {
            return Poll::Ready(());
        }
        if does != Does::Idles {
            mailbox.listen();
        }
        mailbox.release_waiters();
        Poll::Pending
    }

    fn name() -> &'static str {
        "receiver"
    }
}

/// A node core, its queue, and a process whose mailbox has a limit of one message.
fn receiver(
    overflow: Overflow,
    does: Does,
    totals: &std::sync::Arc<DropCounters>,
) -> (NodeCore<Ground>, Queue, Address<Ground, u32>) {
    let queue = Queue::new();
    let node_core = NodeCore::new(Box::new(queue.clone()), Unread::default(), 2, 1);
    let bound = Bound::new(1, overflow, std::sync::Arc::clone(totals)).expect("a bound");
    let made = node_core.spawn((), (), bound, (), |(), _: Owner<Ground, u32>| Receiver(does));
    let address = made.expect("there is a slot");
    (node_core, queue, address)
}

/// Runs `does` on another thread.
fn beside<R: 'static>(
    to: &Address<Ground, u32>,
    does: impl FnOnce(&Address<Ground, u32>) -> R + 'static,
) -> thread::JoinHandle<R> {
    let to = to.clone();
    thread::spawn(move || does(&to))
}

/// Number of wakes. Not loom's atomic, so that it orders nothing.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Entry in the wait list, if the sender joined it, and its waker.
type Waits = Option<(Waiter<Ground>, std::sync::Arc<Woken>)>;

fn line_up(to: &Address<Ground, u32>) -> Waits {
    let woken = std::sync::Arc::<Woken>::default();
    let waker = Waker::from(std::sync::Arc::clone(&woken));
    Some((to.join_wait_list(waker)?, woken))
}

/// Sends past the limit and joins the wait list.
fn send_past(to: &Address<Ground, u32>) -> Waits {
    match to.send(1, SendMode::Send) {
        Ok(SendOutcome::Past) => line_up(to),
        Ok(SendOutcome::Done) | Err(SendError::NoProcess(_)) => None,
        Err(SendError::Full(_)) => unreachable!("senders wait afterwards"),
    }
}

/// The wait list is empty: a waiter was released and woken once.
fn demand_let_go(waits: &Waits) {
    if let Some((waiter, woken)) = waits {
        assert!(waiter.is_over());
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    }
}

// M1, B1: a sender that joins the wait list while the receiver frees capacity is released, or sees
// it
#[test]
fn sender_past_the_limit_is_released_by_capacity_or_the_end_of_the_receiver() {
    for does in [Does::Takes, Does::Ends] {
        model(move || {
            let totals = std::sync::Arc::default();
            let (_node_core, queue, to) = receiver(Overflow::Wait, does, &totals);
            assert_eq!(to.send(0, SendMode::Send), Ok(SendOutcome::Done));
            let sender = beside(&to, send_past);
            queue.run();
            let waits = sender.join().unwrap();
            queue.run();
            demand_let_go(&waits);
            drop(waits);
            queue.end(to);
        });
    }
}

// B1: the same for senders that have not sent yet; their message then fits
#[test]
fn waiting_sender_finds_capacity_after_its_release() {
    for overflow in [Overflow::Wait, Overflow::DropNewest] {
        model(move || {
            let totals = std::sync::Arc::default();
            let (_node_core, queue, to) = receiver(overflow, Does::Takes, &totals);
            assert_eq!(to.send(0, SendMode::Strict), Ok(SendOutcome::Done));
            let sender = beside(&to, |to| match to.send(1, SendMode::Strict) {
                Ok(_) => (true, None),
                Err(_) => (false, line_up(to)),
            });
            queue.run();
            let (sent, waits) = sender.join().unwrap();
            queue.run();
            demand_let_go(&waits);
            assert!(sent || to.send(1, SendMode::Strict) == Ok(SendOutcome::Done));
            drop(waits);
            queue.end(to);
        });
    }
}

// B1: a sender that gives up leaves the wait list, and another waiter is still released
#[test]
fn waiter_that_leaves_does_not_block_others() {
    model(|| {
        let totals = std::sync::Arc::default();
        let (_node_core, queue, to) = receiver(Overflow::Wait, Does::Takes, &totals);
        assert_eq!(to.send(0, SendMode::Send), Ok(SendOutcome::Done));
        let waits = send_past(&to);
        assert!(waits.is_some());
        let other = beside(&to, |to| drop(line_up(to)));
        queue.run();
        other.join().unwrap();
        queue.run();
        demand_let_go(&waits);
        drop(waits);
        queue.end(to);
    });
}

// B1: the limit is never exceeded, and no send is refused while there is capacity
#[test]
fn one_of_two_senders_finds_the_mailbox_full() {
    model(|| {
        let totals = std::sync::Arc::default();
        let (_node_core, queue, to) = receiver(Overflow::Reject, Does::Idles, &totals);
        let other = beside(&to, |to| to.send(1, SendMode::Send).is_ok());
        let mine = to.send(0, SendMode::Send).is_ok();
        let theirs = other.join().unwrap();
        queue.run();
        assert!(mine != theirs);
        assert_eq!(to.mailbox_len(), 1);
        queue.end(to);
    });
}

// B1, B3: the receiver sees each spilled message, and keeps at most the limit
#[test]
fn oldest_are_dropped_while_senders_keep_sending() {
    model(|| {
        let totals = std::sync::Arc::<DropCounters>::default();
        let (_node_core, queue, to) = receiver(Overflow::DropOldest, Does::Idles, &totals);
        assert_eq!(to.send(0, SendMode::Send), Ok(SendOutcome::Done));
        let other = beside(&to, |to| {
            (1..3).for_each(|n| assert_eq!(to.send(n, SendMode::Send), Ok(SendOutcome::Done)));
        });
        queue.run();
        other.join().unwrap();
        queue.run();
        assert_eq!(to.mailbox_len(), 1);
        assert_eq!(totals.oldest.load(Ordering::Relaxed), 2);
        assert_eq!(to.bound().map(Bound::dropped), Some(2));
        queue.end(to);
    });
}

/// Spawns a recorder. Returns its queue, its node core, its address, its log, and the count of the
/// messages that it left unread.
fn recorder(
    recorder: Recorder,
    limit: usize,
    totals: &std::sync::Arc<DropCounters>,
) -> (NodeCore<Ground>, Queue, Address<Ground, u32>, Log, Unread) {
    let (queue, unread) = (Queue::new(), Unread::default());
    let node_core = NodeCore::new(Box::new(queue.clone()), Unread::clone(&unread), 2, 1);
    let bound = Bound::new(limit, Overflow::DropOldest, std::sync::Arc::clone(totals));
    let log = Log::clone(&recorder.log);
    let start = |(), _: Owner<Ground, u32>| recorder;
    let made = node_core.spawn((), (), bound.expect("a bound"), (), start);
    (node_core, queue, made.expect("there is a slot"), log, unread)
}

// M2: a sender that was admitted before another one spilled, and spills then, keeps its order
#[test]
fn two_senders_keep_their_orders_when_they_spill() {
    model(|| {
        let records = Recorder { signalled: true, ..Recorder::default() };
        let (_node_core, queue, to, log, _) = recorder(records, 2, &std::sync::Arc::default());
        let sender = beside(&to, |to| {
            (0..2).for_each(|n| assert_eq!(to.send(n, SendMode::Send), Ok(SendOutcome::Done)));
        });
        (10..12).for_each(|n| assert_eq!(to.send(n, SendMode::Send), Ok(SendOutcome::Done)));
        queue.run();
        sender.join().unwrap();
        queue.run();
        let log = std::mem::take(&mut *log.lock().unwrap());
        assert!(log.iter().filter(|n| **n < 10).is_sorted(), "{log:?}");
        queue.end(to);
    });
}

// B3: a message that is spilled while the receiver ends is returned, or dropped and counted
#[test]
fn message_spilled_at_the_end_of_the_receiver_is_returned_or_counted() {
    model(|| {
        let totals = std::sync::Arc::<DropCounters>::default();
        let ends = Recorder { signalled: true, ..Recorder::default() };
        let (_node_core, queue, to, log, unread) = recorder(ends, 1, &totals);
        assert!(to.signal(()).is_ok());
        let sender =
            beside(&to, |to| (0..3).filter(|&n| to.send(n, SendMode::Send).is_ok()).count());
        queue.run();
        let sent = sender.join().unwrap();
        assert!(to.has_ended());
        let dropped = totals.oldest.load(Ordering::Relaxed) as usize;
        let received = log.lock().unwrap().len();
        assert_eq!(sent, received + dropped + unread.load(Ordering::Relaxed));
    });
}

/// Message that a recorder makes of the first signal.
const SIGNAL: u32 = 100;

/// Records the messages that it receives, the first signal among them, and ends at the second.
#[derive(Default)]
struct Recorder {
    signalled: bool,
    log: Log,
}

/// Received messages. Not loom's lock: only turns and the end of a model use it.
type Log = std::sync::Arc<std::sync::Mutex<Vec<u32>>>;

impl Body<Ground, u32> for Recorder {
    type Bound = Bound;
    type Future = Infallible;

    fn turn(
        mut code: Code<'_, Self>,
        me: InTurn<'_, Ground, u32>,
        _: &mut Context<'_>,
    ) -> Poll<()> {
        let Recorder { signalled, log } = code.start().expect("no turn takes it");
        let mut over = false;
        let mut handle_signal = |()| {
            if std::mem::replace(signalled, true) {
                over = true;
                return SignalOutcome::Over;
            }
            SignalOutcome::Message(ConvertedMessage::new(SIGNAL, 0))
        };
        let mailbox = me.mailbox();
        if mailbox.has_signals() || mailbox.is_past_bound() {
            mailbox.fetch(true, &mut handle_signal);
        }
        while let Some(message) = mailbox.receive(&mut handle_signal) {
            log.lock().unwrap().push(message);
        }
        if over {
            return Poll::Ready(());
        }
        mailbox.listen();
        Poll::Pending
    }

    fn name() -> &'static str {
        "recorder"
    }
}

// B1, M2: what one sender sends stays in order, and the latest messages are received
#[test]
fn latest_messages_are_received_in_order_before_a_later_signal() {
    for (limit, last) in [(1, 2), (2, 3)] {
        model(move || {
            let (_node_core, queue, to, log, _) =
                recorder(Recorder::default(), limit, &std::sync::Arc::default());
            let sender = beside(&to, move |to| {
                (0..=last)
                    .for_each(|n| assert_eq!(to.send(n, SendMode::Send), Ok(SendOutcome::Done)));
                assert!(to.signal(()).is_ok());
            });
            queue.run();
            sender.join().unwrap();
            queue.run();
            let log = std::mem::take(&mut *log.lock().unwrap());
            assert!(log.is_sorted_by(|a, b| a < b), "{log:?}");
            // The signal, made into a message, counts for the bound and is not dropped.
            assert_eq!(log.last(), Some(&SIGNAL), "{log:?}");
            assert!(limit == 1 || log.contains(&last), "{log:?}");
            queue.end(to);
        });
    }
}
