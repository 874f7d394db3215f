//! Work that is spread over the workers and gathered again while it goes on.

mod common;

use common::{node, stop};
use purlin::{Pid, Process};

/// Pairs of processes that send each other one message at a time: always more to do than one worker
/// does, and never so much that it is overloaded.
const PAIRS: u64 = 50;
const TRIPS: u64 = 20_000;

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
