//! Load balancing: work that is spread over the workers and gathered on one while the node is running.

use std::collections::HashSet;
use std::hint;
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use crate::common::{node, stop};
use purlin::{Pid, Process};

/// Pairs of processes that exchange one message at a time: always more work than one worker can do, but never enough to
/// overload it.
const PAIRS: u64 = 50;
const TRIPS: u64 = 4_000;

// F1, M2: long enough for `sysmon` to try both modes; no message and no turn is lost.
#[test]
fn no_message_is_lost_while_short_turns_are_gathered_and_spread() {
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

/// Returns whether a second worker takes part in long queued turns, on a new node that has not measured any turn
/// lengths yet.
fn is_helped() -> bool {
    /// WHY not more: a process that spawned for too long would be detected as stuck, which also starts a second thread.
    const MANY: usize = 100;
    /// WHY real time: a turn must be long by `sysmon`'s clock, but short enough that its worker is not detected as
    /// stuck.
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

// F1: the processes are queued before their turn lengths are known, and no process is queued after them.
// WHY repeated: if only one CPU is idle, one worker may finish before `sysmon` samples.
#[test]
fn long_turns_queued_before_their_length_is_known_are_shared() {
    assert!((0..1000).any(|_| is_helped()), "one worker ran all, each time");
}
