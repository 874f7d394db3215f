//! Trees of coroutines: `fork-join` and `skynet`.
//!
//! A coroutine keeps its stack from the spawn on, so the number alive at the same time is bounded.

use std::sync::Arc;
use std::time::Instant;

use may::coroutine::JoinHandle;
use may::go;
use may::sync::Semphore;
use purlin_contender::Sample;

use crate::processes::spawn_on_one;

/// Number of children of each inner tree node.
const CHILDREN: u64 = 10;

/// Maximum number of children of `fork-join` alive at the same time, and of nodes over leaves of
/// `skynet`: the number of stacks that may keeps in its pool by default.
const ALIVE: usize = 1000;

pub(crate) fn fork_join(n: u64) -> Sample {
    let (mut sent, mut received) = (0, 0);
    let mut children = Vec::with_capacity(ALIVE);

    let start = Instant::now();
    while sent < n {
        let next = n.min(sent + ALIVE as u64);
        children.extend((sent..next).map(|child| spawn_on_one(move || child)));
        sent = next;
        for child in children.drain(..) {
            received += u64::from(child.join().is_ok());
        }
    }
    Sample::new(start.elapsed(), n, sent, received)
}

/// Report of a node to its parent.
#[derive(Default)]
struct Report {
    sum: u64,
    leaves: u64,
}

pub(crate) fn skynet(leaves: u64) -> Sample {
    let start = Instant::now();
    let report = node(0, leaves, Arc::new(Semphore::new(ALIVE))).join().unwrap_or_default();
    Sample::new(start.elapsed(), leaves, leaves, report.leaves).with("sum", report.sum)
}

/// Spawns the tree node over `size` leaves, starting with leaf number `first`.
fn node(first: u64, size: u64, alive: Arc<Semphore>) -> JoinHandle<Report> {
    let over_leaves = size == CHILDREN;
    if over_leaves {
        alive.wait();
    }
    go!(move || {
        if size == 1 {
            return Report { sum: first, leaves: 1 };
        }
        let each = size / CHILDREN;
        let child = |child| node(first + child * each, each, Arc::clone(&alive));
        let mut report = Report::default();
        for child in (0..CHILDREN).map(child).collect::<Vec<_>>() {
            let part = child.join().unwrap_or_default();
            report.sum += part.sum;
            report.leaves += part.leaves;
        }
        if over_leaves {
            alive.post();
        }
        report
    })
}
