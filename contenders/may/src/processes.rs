//! Chains of coroutines: `spawn-chain` and `serial-spawn`.

use std::time::Instant;

use may::coroutine::{Builder, JoinHandle};
use may::go;
use may::sync::mpsc::{Sender, channel};
use purlin_contender::{Sample, shares};

use crate::channels::receive;

/// Spawns a coroutine on the first worker.
///
/// WHY: without an id may spawns on the workers in turn, and wakes a sleeping one each time. A chain whose links
/// alternate between two workers takes 30 times as long.
pub(crate) fn spawn_on_one<T: Send + 'static>(
    run: impl FnOnce() -> T + Send + 'static,
) -> JoinHandle<T> {
    go!(Builder::new().id(0), run).expect("a stack for the coroutine")
}

/// Spawns a coroutine that spawns the next one and ends; the last one reports how many ran.
fn chain(left: u64, ran: u64, root: Sender<u64>) {
    spawn_on_one(move || {
        if left == 1 {
            let _ = root.send(ran + 1);
        } else {
            chain(left - 1, ran + 1, root);
        }
    });
}

pub(crate) fn spawn_chain(n: u64, reps: u64) -> Sample {
    let (root, mailbox) = channel();
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for _ in 0..reps {
        chain(n, 0, root.clone());
        sent += n;
        received += receive(&mailbox).unwrap_or(0);
    }
    Sample::new(start.elapsed(), n * reps, sent, received)
}

pub(crate) fn serial_spawn(m: u64, total: u64) -> Sample {
    let (root, mailbox) = channel();
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for length in shares(total, m) {
        chain(length, 0, root.clone());
        sent += length;
    }
    drop(root);
    while let Some(ran) = receive(&mailbox) {
        received += ran;
    }
    Sample::new(start.elapsed(), total, sent, received)
}
