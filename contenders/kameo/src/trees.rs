//! Trees of actors: `fork-join` and `skynet`.

use std::convert::Infallible;
use std::time::Instant;

use kameo::mailbox::unbounded;
use kameo::prelude::*;
use purlin_contender::Sample;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::yield_now;

use crate::Outcome;

/// Number of actors between two yields of a loop that only spawns: the fastest of 64, 256 and 1024.
const SPAWNS_PER_YIELD: u64 = 64;

/// Number of children of each inner tree node.
const CHILDREN: u64 = 10;

/// Counts the reports of the children.
struct Parent {
    n: u64,
    reported: u64,
    root: UnboundedSender<u64>,
}

/// A child's number.
struct Done(u64);

impl Parent {
    fn tell_if_done(&self) {
        if self.reported == self.n {
            // Cannot fail: the root waits for this report.
            let _ = self.root.send(self.reported);
        }
    }
}

impl Actor for Parent {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(parent: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        parent.tell_if_done();
        Ok(parent)
    }
}

impl Message<Done> for Parent {
    type Reply = ();

    async fn handle(&mut self, Done(child): Done, _: &mut Context<Self, ()>) {
        std::hint::black_box(child);
        self.reported += 1;
        self.tell_if_done();
    }
}

/// Reports its number and stops.
struct Child;

impl Actor for Child {
    type Args = (u64, ActorRef<Parent>);
    type Error = Infallible;

    async fn on_start((number, parent): Self::Args, _: ActorRef<Self>) -> Result<Self, Infallible> {
        // A failed send is missing in the count.
        let _ = parent.tell(Done(number)).send().await;
        Ok(Child)
    }
}

pub(crate) async fn fork_join(n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();

    let start = Instant::now();
    // WHY unbounded: children that wait for capacity of a bounded mailbox would accumulate.
    let parent = Parent::spawn_with_mailbox(Parent { n, reported: 0, root }, unbounded());
    let mut sent = 0;
    for child in 0..n {
        Child::spawn((child, parent.clone()));
        sent += 1;
        if child % SPAWNS_PER_YIELD == SPAWNS_PER_YIELD - 1 {
            yield_now().await;
        }
    }
    let received = reports.recv().await.unwrap_or_default();
    Ok(Sample::new(start.elapsed(), n, sent, received))
}

/// Tree node: a leaf, or an inner node that adds up the reports of its children.
struct Node {
    first: u64,
    size: u64,
    reported: u64,
    report: Report,
    above: Above,
}

/// Report of a node to its parent.
#[derive(Clone, Copy, Default)]
struct Report {
    sum: u64,
    leaves: u64,
}

enum Above {
    Node(ActorRef<Node>),
    Root(UnboundedSender<Report>),
}

impl Node {
    fn new(first: u64, size: u64, above: Above) -> Self {
        Node { first, size, reported: 0, report: Report::default(), above }
    }

    async fn tell(&self) {
        // A failed send is missing in the sum.
        match &self.above {
            Above::Node(parent) => drop(parent.tell(self.report).send().await),
            Above::Root(root) => drop(root.send(self.report)),
        }
    }
}

impl Actor for Node {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(mut node: Self, myself: ActorRef<Self>) -> Result<Self, Infallible> {
        if node.size == 1 {
            node.report = Report { sum: node.first, leaves: 1 };
            node.tell().await;
            return Ok(node);
        }
        let each = node.size / CHILDREN;
        for child in 0..CHILDREN {
            Node::spawn(Node::new(node.first + child * each, each, Above::Node(myself.clone())));
        }
        Ok(node)
    }
}

impl Message<Report> for Node {
    type Reply = ();

    async fn handle(&mut self, part: Report, _: &mut Context<Self, ()>) {
        self.report.sum += part.sum;
        self.report.leaves += part.leaves;
        self.reported += 1;
        if self.reported == CHILDREN {
            self.tell().await;
        }
    }
}

pub(crate) async fn skynet(leaves: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();

    let start = Instant::now();
    Node::spawn(Node::new(0, leaves, Above::Root(root)));
    let report = reports.recv().await.unwrap_or_default();
    Ok(Sample::new(start.elapsed(), leaves, leaves, report.leaves).with("sum", report.sum))
}
