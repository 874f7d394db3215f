//! Models of mailbox bounds: the count, the wait list, and the list of spilled signals by which the
//! oldest messages are dropped.
//!
//! Run with `scripts/test-loom.sh`. All items are used as the layers above use them.
#![cfg(loom)]

mod queue;

use std::convert::Infallible;
use std::ops::Range;
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

/// What a receiver does in each turn.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    /// Takes all messages.
    Takes,
    /// Takes nothing, and waits for something other than messages.
    Idles,
    /// Takes all messages, and ends in the first turn that took any.
    Ends,
    /// Takes nothing before its end, and then what it has fetched.
    TakesLast,
}

struct Receiver {
    does: Does,
    /// Whether the next signal becomes the message [`SIGNAL`]. Another one ends the process.
    converts: bool,
    log: Log,
    own: Own,
}

/// Received messages. Not loom's lock: only turns and the end of a model use it.
type Log = std::sync::Arc<std::sync::Mutex<Vec<u32>>>;

/// Address to which the receiver sends [`OWN`] at the beginning of its next turn: its own.
type Own = std::sync::Arc<std::sync::Mutex<Option<Address<Ground, u32>>>>;

/// Message that a receiver makes of a signal.
const SIGNAL: u32 = 100;
/// Message that a receiver sends to itself.
const OWN: u32 = 50;

impl Body<Ground, u32> for Receiver {
    type Bound = Bound;
    type Future = Infallible;

    fn turn(
        mut code: Code<'_, Self>,
        me: InTurn<'_, Ground, u32>,
        _: &mut Context<'_>,
    ) -> Poll<()> {
        let Receiver { does, converts, log, own } = code.start().expect("no turn takes it");
        let mut over = false;
        let mut handle_signal = |()| {
            if std::mem::take(converts) {
                return SignalOutcome::Message(ConvertedMessage::new(SIGNAL, 0));
            }
            over = true;
            SignalOutcome::Over
        };
        let mailbox = me.mailbox();
        if mailbox.has_signals() || mailbox.is_past_bound() {
            mailbox.fetch(true, &mut handle_signal);
        }
        let takes = matches!(does, Does::Takes | Does::Ends);
        let own = own.lock().unwrap().take();
        own.iter().for_each(|own| send(own, OWN..OWN + 1));
        let mut log = log.lock().unwrap();
        let before = log.len();
        while takes && let Some(message) = mailbox.receive(&mut handle_signal) {
            log.push(message);
        }
        assert!(own.is_none() || log.contains(&OWN), "{log:?}");
        if over && *does == Does::TakesLast {
            log.extend(std::iter::from_fn(|| mailbox.receive_fetched()));
        }
        if over || *does == Does::Ends && log.len() > before {
            return Poll::Ready(());
        }
        if takes {
            mailbox.listen();
        }
        mailbox.release_waiters();
        Poll::Pending
    }

    fn name() -> &'static str {
        "receiver"
    }
}

/// A process with a bounded mailbox, and what a model needs of it.
struct World {
    to: Address<Ground, u32>,
    queue: Queue,
    log: Log,
    own: Own,
    totals: std::sync::Arc<DropCounters>,
    unread: Unread,
    // Dropped last: the process is ended first.
    _node_core: NodeCore<Ground>,
}

impl World {
    fn new(overflow: Overflow, limit: usize, does: Does, converts: bool) -> Self {
        let (queue, log, own) = (Queue::new(), Log::default(), Own::default());
        let (totals, unread) = (std::sync::Arc::<DropCounters>::default(), Unread::default());
        let node_core = NodeCore::new(Box::new(queue.clone()), Unread::clone(&unread), 2, 1);
        let bound = Bound::new(limit, overflow, std::sync::Arc::clone(&totals)).expect("a bound");
        let receiver = Receiver { does, converts, log: Log::clone(&log), own: Own::clone(&own) };
        let start = |(), _: Owner<Ground, u32>| receiver;
        let to = node_core.spawn((), (), bound, (), start).expect("there is a slot");
        Self { to, queue, log, own, totals, unread, _node_core: node_core }
    }

    /// Sends consecutive numbers, none of which is refused.
    fn send(&self, numbers: Range<u32>) {
        send(&self.to, numbers);
    }

    /// Runs the receiver beside another thread, and once more when that has ended.
    fn run_beside<R>(&self, other: thread::JoinHandle<R>) -> R {
        self.queue.run();
        let result = other.join().unwrap();
        self.queue.run();
        result
    }

    /// Ends the process, so that the model leaks nothing. Returns the messages that it has received.
    fn end(self) -> Vec<u32> {
        // The signal fails if the process has ended already.
        let _ = self.to.signal(());
        self.queue.run();
        assert!(self.to.has_ended());
        std::mem::take(&mut *self.log.lock().unwrap())
    }
}

fn send(to: &Address<Ground, u32>, numbers: Range<u32>) {
    for n in numbers {
        assert_eq!(to.send(n, SendMode::Send), Ok(SendOutcome::Done));
    }
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
            let world = World::new(Overflow::Wait, 1, does, false);
            world.send(0..1);
            let waits = world.run_beside(beside(&world.to, send_past));
            demand_let_go(&waits);
            drop(waits);
            world.end();
        });
    }
}

// B1: the same for senders that have not sent yet; their message then fits
#[test]
fn waiting_sender_finds_capacity_after_its_release() {
    for overflow in [Overflow::Wait, Overflow::DropNewest] {
        model(move || {
            let world = World::new(overflow, 1, Does::Takes, false);
            assert_eq!(world.to.send(0, SendMode::Strict), Ok(SendOutcome::Done));
            let sender = beside(&world.to, |to| match to.send(1, SendMode::Strict) {
                Ok(_) => (true, None),
                Err(_) => (false, line_up(to)),
            });
            let (sent, waits) = world.run_beside(sender);
            demand_let_go(&waits);
            assert!(sent || world.to.send(1, SendMode::Strict) == Ok(SendOutcome::Done));
            drop(waits);
            world.end();
        });
    }
}

// B1: a sender that gives up leaves the wait list, and another waiter is still released
#[test]
fn waiter_that_leaves_does_not_block_others() {
    model(|| {
        let world = World::new(Overflow::Wait, 1, Does::Takes, false);
        world.send(0..1);
        let waits = send_past(&world.to);
        assert!(waits.is_some());
        world.run_beside(beside(&world.to, |to| drop(line_up(to))));
        demand_let_go(&waits);
        drop(waits);
        world.end();
    });
}

// B1: the limit is never exceeded, and no send is refused while there is capacity
#[test]
fn one_of_two_senders_finds_the_mailbox_full() {
    model(|| {
        let world = World::new(Overflow::Reject, 1, Does::Idles, false);
        let other = beside(&world.to, |to| to.send(1, SendMode::Send).is_ok());
        let mine = world.to.send(0, SendMode::Send).is_ok();
        let theirs = other.join().unwrap();
        world.queue.run();
        assert!(mine != theirs);
        assert_eq!(world.to.mailbox_len(), 1);
        world.end();
    });
}

// B1, B3: the receiver sees each spilled message, and keeps at most the limit
#[test]
fn oldest_are_dropped_while_senders_keep_sending() {
    model(|| {
        let world = World::new(Overflow::DropOldest, 1, Does::Idles, false);
        world.send(0..1);
        world.run_beside(beside(&world.to, |to| send(to, 1..3)));
        assert_eq!(world.to.mailbox_len(), 1);
        assert_eq!(world.totals.oldest.load(Ordering::Relaxed), 2);
        assert_eq!(world.to.bound().map(Bound::dropped), Some(2));
        world.end();
    });
}

// M2: a sender that was admitted before another one spilled, and spills then, keeps its order
#[test]
fn two_senders_keep_their_orders_when_they_spill() {
    model(|| {
        let world = World::new(Overflow::DropOldest, 2, Does::TakesLast, false);
        let sender = beside(&world.to, |to| send(to, 0..2));
        world.send(10..12);
        world.run_beside(sender);
        let received = world.end();
        assert!(received.iter().filter(|n| **n < 10).is_sorted(), "{received:?}");
    });
}

// B1: a turn that goes on receives what is spilled meanwhile
#[test]
fn messages_that_are_spilled_during_a_turn_are_received_in_it_or_the_next() {
    model(|| {
        let world = World::new(Overflow::DropOldest, 1, Does::Takes, false);
        world.send(0..2);
        world.run_beside(beside(&world.to, |to| send(to, 2..4)));
        let dropped = world.totals.oldest.load(Ordering::Relaxed) as usize;
        let received = world.end();
        assert!(received.is_sorted_by(|a, b| a < b), "{received:?}");
        assert_eq!((received.last(), received.len() + dropped), (Some(&3), 4), "{received:?}");
    });
}

// M3, B1: a turn receives what its process sends to itself after the first message that another
// sender spills
#[test]
fn message_spilled_after_that_of_another_sender_is_received_in_the_same_turn() {
    model(|| {
        let world = World::new(Overflow::DropOldest, 2, Does::Takes, false);
        world.send(0..2);
        *world.own.lock().unwrap() = Some(world.to.clone());
        world.run_beside(beside(&world.to, |to| send(to, 2..3)));
        world.end();
    });
}

// B3: a message that is spilled while the receiver ends is returned, or dropped and counted
#[test]
fn message_spilled_at_the_end_of_the_receiver_is_returned_or_counted() {
    model(|| {
        let world = World::new(Overflow::DropOldest, 1, Does::Takes, false);
        assert!(world.to.signal(()).is_ok());
        let sent = world.run_beside(beside(&world.to, |to| {
            (0..3).filter(|&n| to.send(n, SendMode::Send).is_ok()).count()
        }));
        assert!(world.to.has_ended());
        let dropped = world.totals.oldest.load(Ordering::Relaxed) as usize;
        let unread = world.unread.load(Ordering::Relaxed);
        assert_eq!(sent, world.end().len() + dropped + unread);
    });
}

// B1, M2: what one sender sends stays in order, and the latest messages are received
#[test]
fn latest_messages_are_received_in_order_before_a_later_signal() {
    for (limit, last) in [(1, 2), (2, 3)] {
        model(move || {
            let world = World::new(Overflow::DropOldest, limit, Does::Takes, true);
            world.run_beside(beside(&world.to, move |to| {
                send(to, 0..last + 1);
                assert!(to.signal(()).is_ok());
            }));
            let received = world.end();
            assert!(received.is_sorted_by(|a, b| a < b), "{received:?}");
            // The signal, made into a message, counts for the bound and is not dropped.
            assert_eq!(received.last(), Some(&SIGNAL), "{received:?}");
            assert!(limit == 1 || received.contains(&last), "{received:?}");
        });
    }
}
