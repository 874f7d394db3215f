//! Trees of tasks: `fork-join` and `skynet`.

use std::time::Instant;

use purlin_contender::Sample;
use tokio::task::JoinHandle;

/// Number of children of each inner tree node.
const CHILDREN: usize = 10;

pub(crate) async fn fork_join(n: u64) -> Sample {
    let start = Instant::now();
    let children: Vec<_> = (0..n).map(|child| tokio::spawn(async move { child })).collect();
    let sent = children.len() as u64;
    let mut received = 0;
    for child in children {
        received += u64::from(child.await.is_ok());
    }
    Sample::new(start.elapsed(), n, sent, received)
}

/// Report of a node to its parent.
#[derive(Default)]
struct Report {
    sum: u64,
    leaves: u64,
}

pub(crate) async fn skynet(leaves: u64) -> Sample {
    let start = Instant::now();
    let report = node(0, leaves).await.unwrap_or_default();
    Sample::new(start.elapsed(), leaves, leaves, report.leaves).with("sum", report.sum)
}

/// Spawns the tree node over `size` leaves, starting with leaf number `first`.
fn node(first: u64, size: u64) -> JoinHandle<Report> {
    tokio::spawn(async move {
        if size == 1 {
            return Report { sum: first, leaves: 1 };
        }
        let each = size / CHILDREN as u64;
        let children: [_; CHILDREN] =
            std::array::from_fn(|child| node(first + child as u64 * each, each));
        let mut report = Report::default();
        // WHY: a worker runs the task it spawned last first, so that task finishes first.
        for child in children.into_iter().rev() {
            let part = child.await.unwrap_or_default();
            report.sum += part.sum;
            report.leaves += part.leaves;
        }
        report
    })
}
