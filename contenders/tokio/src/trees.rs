//! Trees of tasks: `fork-join` and `skynet`.

use std::time::Instant;

use purlin_contender::Sample;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, yield_now};

use crate::flow::YIELD_EVERY;

/// Number of children of each inner tree node.
const CHILDREN: usize = 10;

pub(crate) async fn fork_join(n: u64) -> Sample {
    let start = Instant::now();
    let mut children = Vec::new();
    for child in 0..n {
        children.push(tokio::spawn(async move { child }));
        let_others_run(child).await;
    }
    let (sent, received) = join(children).await;
    Sample::new(start.elapsed(), n, sent, received)
}

/// `fork-join` in the variant `alive`: each task waits until all are spawned. Measured against a
/// `watch` channel, a `Barrier` and a `Semaphore`: `oneshot` channels are the fastest.
pub(crate) async fn fork_join_alive(n: u64) -> Sample {
    let start = Instant::now();
    let (mut children, mut waiting) = (Vec::new(), Vec::new());
    for child in 0..n {
        let (go, gone) = oneshot::channel();
        waiting.push(go);
        children.push(tokio::spawn(async move {
            // Cannot fail: the root sends to each child.
            let () = gone.await.unwrap_or_default();
            child
        }));
        let_others_run(child).await;
    }
    for (child, go) in (0..n).zip(waiting) {
        // Fails only if the child has failed, which is then missing in the count.
        let _ = go.send(());
        let_others_run(child).await;
    }
    let (sent, received) = join(children).await;
    Sample::new(start.elapsed(), n, sent, received)
}

/// Yields after some of the tasks if no other worker runs the spawned ones.
///
/// Measured per task: with one worker 171 ns with yields and 221 without; with two workers, where
/// the other one steals, 230 ns with yields and 173 without.
async fn let_others_run(child: u64) {
    if child % YIELD_EVERY == YIELD_EVERY - 1 && Handle::current().metrics().num_workers() == 1 {
        yield_now().await;
    }
}

/// Waits for all children. Returns their number and the number of those that have reported.
async fn join(children: Vec<JoinHandle<u64>>) -> (u64, u64) {
    let sent = children.len() as u64;
    let mut received = 0;
    for child in children {
        received += u64::from(child.await.is_ok());
    }
    (sent, received)
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
