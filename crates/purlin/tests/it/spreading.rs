//! Work that is spread over the workers and gathered again while it goes on.

use std::collections::HashSet;
use std::hint;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::common::{node, stop};
use purlin::{Pid, Process};

/// Pairs of processes that send each other one message at a time: always more to do than one worker
/// does, and never so much that it is overloaded.
const PAIRS: u64 = 50;
const TRIPS: u64 = 4_000;

// F1, M2: long enough for the monitor to try both ways, which loses no message and no turn.
#[test]
fn nothing_is_lost_while_short_turns_are_kept_together_and_spread() {
    let node = node(2);
    let received = node.block_on(async |mut me: Process<u64>| {
        for _ in 0..PAIRS {
            let root = me.pid();
            let partner = purlin::spawn(answer);
            purlin::spawn(async move |mut me: Process<u64>| {
                let mut received = 0;
                for trip in 0..TRIPS {
                    partner.send((me.pid(), trip));
                    assert_eq!(me.receive().await, trip, "answers come in order");
                    received += 1;
                }
                root.send(received);
            });
        }
        let mut received = 0;
        for _ in 0..PAIRS {
            received += me.receive().await;
        }
        received
    });
    assert_eq!(received, PAIRS * TRIPS);
    stop(&node);
}

async fn answer(mut me: Process<(Pid<u64>, u64)>) {
    for _ in 0..TRIPS {
        let (from, trip) = me.receive().await;
        from.send(trip);
    }
}

/// Whether a second worker helps with long turns that wait behind each other, on a node that has just
/// begun and so has not seen how long turns are.
fn is_helped() -> bool {
    /// WHY so few: a process that spawned for long would be found stuck, which is another way to help.
    const MANY: usize = 100;
    /// WHY real time: a turn must be long by the monitor's clock, but not so long that its worker is
    /// found to be stuck.
    const LONG: Duration = Duration::from_micros(200);
    let node = node(2);
    let ran_on: HashSet<ThreadId> = node.block_on(async |mut me: Process<ThreadId>| {
        for _ in 0..MANY {
            let root = me.pid();
            purlin::spawn(async move |_: Process<()>| {
                let began = Instant::now();
                while began.elapsed() < LONG {
                    hint::spin_loop();
                }
                root.send(thread::current().id());
            });
        }
        let mut ran_on = HashSet::new();
        for _ in 0..MANY {
            ran_on.insert(me.receive().await);
        }
        ran_on
    });
    stop(&node);
    ran_on.len() > 1
}

// F1: they are queued before it is known how long their turns are, and no process is queued after them.
// WHY again and again: one worker that has the only idle processor may be done before the monitor looks.
#[test]
fn long_turns_that_were_queued_before_their_length_was_known_are_shared() {
    assert!((0..1000).any(|_| is_helped()), "one worker ran all, each time");
}
