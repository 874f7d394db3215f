//! Models of the inbox's extension: allocated by the receiver, or by senders whose messages the
//! count of the stack has no room for.
//!
//! Run with `scripts/test-loom.sh`. In a model a stack counts up to three messages. All items are
//! used as the layers above use them.
#![cfg(loom)]

mod queue;

use std::convert::Infallible;
use std::task::{Context, Poll};

use loom::thread;
use purlin_raw::model::model;
use purlin_raw::{
    Address, Body, Code, End, InTurn, NodeCore, Owner, RuntimeTypes, SendMode, SignalOutcome,
};
use queue::Queue;

struct Ground;

impl RuntimeTypes for Ground {
    type Signal = ();
    type Local = ();
    type Shared = ();
    type ExitStatus = Vec<u32>;
    type NodeState = ();

    fn has_state(&(): &()) -> bool {
        false
    }

    fn closed((): &(), _: &End<'_, Self>, &mut (): &mut ()) {}

    fn undelivered((): &(), &mut (): &mut (), (): ()) {}
}

/// Process that ends with its messages, in order, after it has received `awaited`.
struct Receiver {
    received: Vec<u32>,
    awaited: usize,
}

impl Body<Ground, u32> for Receiver {
    type Bound = ();
    type Future = Infallible;

    fn turn(
        mut code: Code<'_, Self>,
        me: InTurn<'_, Ground, u32>,
        _: &mut Context<'_>,
    ) -> Poll<Vec<u32>> {
        let mailbox = me.mailbox();
        mailbox.fetch(true, |()| SignalOutcome::Nothing);
        let this = code.start().expect("no turn takes it");
        this.received.extend(std::iter::from_fn(|| mailbox.receive_fetched()));
        if this.received.len() < this.awaited {
            mailbox.listen();
            return Poll::Pending;
        }
        Poll::Ready(std::mem::take(&mut this.received))
    }

    fn name() -> &'static str {
        "receiver"
    }
}

/// Returns a process that awaits four messages or more, and whose stack holds the first three. The
/// node core outlives the process.
fn full(awaited: usize) -> (NodeCore<Ground>, Address<Ground, u32>, Queue) {
    let queue = Queue::new();
    let node_core = NodeCore::new(Box::new(queue.clone()), (), 1, 1);
    let make = |(), _: Owner<Ground, u32>| Receiver { received: Vec::new(), awaited };
    let address = node_core.spawn((), (), (), (), make).expect("there is a slot");
    for message in 1..=3 {
        assert!(address.send(message, SendMode::Send).is_ok());
    }
    assert_eq!(address.mailbox_len(), 3);
    (node_core, address, queue)
}

fn sender(to: &Address<Ground, u32>, message: u32) -> thread::JoinHandle<()> {
    let to = to.clone();
    thread::spawn(move || assert!(to.send(message, SendMode::Send).is_ok()))
}

#[test]
fn receiver_and_a_sender_beyond_the_count_use_the_same_extension() {
    model(|| {
        let (_node_core, address, queue) = full(4);
        let other = sender(&address, 4);
        queue.run();
        other.join().unwrap();
        queue.run();
        assert_eq!(address.exit_status(), Some(&vec![1, 2, 3, 4]));
        assert_eq!(address.mailbox_len(), 0);
    });
}

#[test]
fn two_senders_beyond_the_count_are_both_counted() {
    model(|| {
        let (_node_core, address, queue) = full(5);
        let others = [sender(&address, 4), sender(&address, 5)];
        // The two that are carried may be missing, or counted in the word too.
        assert!((2..=7).contains(&address.mailbox_len()));
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(address.mailbox_len(), 5);
        queue.run();
        let received = address.exit_status().expect("it has all messages");
        assert_eq!(received[..3], [1, 2, 3]);
        assert_eq!(received[3] + received[4], 9);
        assert_eq!(address.mailbox_len(), 0);
    });
}

// A thread that counts the mailbox may follow the pointers while a sender allocates the blocks.
#[test]
fn observer_of_the_mailbox_sees_an_initialised_extension() {
    model(|| {
        let (_node_core, address, queue) = full(4);
        let observed = address.clone();
        let other = thread::spawn(move || observed.mailbox_len());
        assert!(address.send(4, SendMode::Send).is_ok());
        // The two that are carried may be missing, or counted in the word too.
        assert!((2..=5).contains(&other.join().unwrap()));
        queue.run();
        assert!(address.has_ended());
    });
}
