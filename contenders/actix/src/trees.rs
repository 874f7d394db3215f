//! Trees of actors: `fork-join` and `skynet`.

use std::time::Instant;

use actix::prelude::*;
use purlin_contender::Sample;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::yield_now;

use crate::Outcome;
use crate::flow::YIELD_EVERY;

/// Number of children of each inner tree node.
const CHILDREN: u64 = 10;

/// Counts the reports of the children.
struct Parent {
    n: u64,
    reported: u64,
    root: UnboundedSender<u64>,
}

/// A child's number.
#[derive(Message)]
#[rtype(result = "()")]
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
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        self.tell_if_done();
    }
}

impl Handler<Done> for Parent {
    type Result = ();

    fn handle(&mut self, Done(child): Done, _: &mut Context<Self>) {
        std::hint::black_box(child);
        self.reported += 1;
        self.tell_if_done();
    }
}

/// Reports its number and stops.
struct Child {
    number: u64,
    parent: Addr<Parent>,
}

impl Actor for Child {
    type Context = Context<Self>;

    fn started(&mut self, _: &mut Context<Self>) {
        self.parent.do_send(Done(self.number));
    }
}

pub(crate) async fn fork_join(n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();

    let start = Instant::now();
    let parent = Parent { n, reported: 0, root }.start();
    let mut sent = 0;
    for number in 0..n {
        Child { number, parent: parent.clone() }.start();
        sent += 1;
        if number % YIELD_EVERY == YIELD_EVERY - 1 {
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
#[derive(Clone, Copy, Default, Message)]
#[rtype(result = "()")]
struct Report {
    sum: u64,
    leaves: u64,
}

enum Above {
    Node(Addr<Node>),
    Root(UnboundedSender<Report>),
}

impl Node {
    fn new(first: u64, size: u64, above: Above) -> Self {
        Node { first, size, reported: 0, report: Report::default(), above }
    }

    fn tell(&self) {
        match &self.above {
            Above::Node(parent) => parent.do_send(self.report),
            // Cannot fail: the root waits for this report.
            Above::Root(root) => drop(root.send(self.report)),
        }
    }
}

impl Actor for Node {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        if self.size == 1 {
            self.report = Report { sum: self.first, leaves: 1 };
            return self.tell();
        }
        let each = self.size / CHILDREN;
        for child in 0..CHILDREN {
            let above = Above::Node(context.address());
            Node::new(self.first + child * each, each, above).start();
        }
    }
}

impl Handler<Report> for Node {
    type Result = ();

    fn handle(&mut self, part: Report, _: &mut Context<Self>) {
        self.report.sum += part.sum;
        self.report.leaves += part.leaves;
        self.reported += 1;
        if self.reported == CHILDREN {
            self.tell();
        }
    }
}

pub(crate) async fn skynet(leaves: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();

    let start = Instant::now();
    Node::new(0, leaves, Above::Root(root)).start();
    let report = reports.recv().await.unwrap_or_default();
    Ok(Sample::new(start.elapsed(), leaves, leaves, report.leaves).with("sum", report.sum))
}
