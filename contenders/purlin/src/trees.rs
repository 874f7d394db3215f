//! Trees of processes: `fork-join` and `skynet`.

use std::time::Instant;

use purlin::{Pid, Process, consume_budget, spawn};
use purlin_contender::Sample;

/// Number of children of each inner tree node.
const CHILDREN: u64 = 10;

pub(crate) async fn fork_join(mut me: Process<u64>, n: u64) -> Sample {
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    for child in 0..n {
        let root = me.pid();
        spawn(move |_: Process<()>| async move { root.send(child) });
        sent += 1;
        consume_budget().await;
    }
    while received < n {
        me.receive().await;
        received += 1;
    }
    Sample::new(start.elapsed(), n, sent, received)
}

/// `fork-join` in the variant `alive`: each process waits for a message until all are spawned.
pub(crate) async fn fork_join_alive(mut me: Process<u64>, n: u64) -> Sample {
    let (mut sent, mut received) = (0, 0);

    let start = Instant::now();
    let mut children = Vec::new();
    for child in 0..n {
        let root = me.pid();
        children.push(spawn(move |mut me: Process<()>| async move {
            me.receive().await;
            root.send(child);
        }));
        sent += 1;
        consume_budget().await;
    }
    for child in children {
        child.send(());
        consume_budget().await;
    }
    while received < n {
        me.receive().await;
        received += 1;
    }
    Sample::new(start.elapsed(), n, sent, received)
}

/// Report of a node to its parent.
pub(crate) struct Report {
    sum: u64,
    leaves: u64,
}

pub(crate) async fn skynet(mut me: Process<Report>, leaves: u64) -> Sample {
    let start = Instant::now();
    node(0, leaves, me.pid());
    let report = me.receive().await;
    Sample::new(start.elapsed(), leaves, leaves, report.leaves).with("sum", report.sum)
}

/// Spawns the tree node over `size` leaves, starting with leaf number `first`.
fn node(first: u64, size: u64, parent: Pid<Report>) {
    spawn(move |mut me: Process<Report>| async move {
        if size == 1 {
            return parent.send(Report { sum: first, leaves: 1 });
        }
        let each = size / CHILDREN;
        for child in 0..CHILDREN {
            node(first + child * each, each, me.pid());
        }
        let mut report = Report { sum: 0, leaves: 0 };
        for _ in 0..CHILDREN {
            let part = me.receive().await;
            report.sum += part.sum;
            report.leaves += part.leaves;
        }
        parent.send(report);
    });
}
