//! Trees of actors: `fork-join` and `skynet`.

use std::pin::Pin;
use std::time::Instant;

use purlin_contender::Sample;
use ractor::{Actor, ActorProcessingErr, ActorRef, SpawnErr};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::yield_now;

use crate::Outcome;

/// Number of actors between two yields of a loop that only spawns: the fastest of 64, 256 and 1024.
const SPAWNS_PER_YIELD: u64 = 64;

/// Number of children of each inner tree node.
const CHILDREN: u64 = 10;

/// Counts the reports of the children.
struct Parent;

struct Children {
    n: u64,
    reported: u64,
    root: UnboundedSender<u64>,
}

impl Children {
    fn tell_if_done(&self, myself: &ActorRef<u64>) -> Result<(), ActorProcessingErr> {
        if self.reported == self.n {
            self.root.send(self.reported)?;
            myself.stop(None);
        }
        Ok(())
    }
}

impl Actor for Parent {
    type Msg = u64;
    type State = Children;
    type Arguments = (u64, UnboundedSender<u64>);

    async fn pre_start(
        &self,
        _: ActorRef<u64>,
        (n, root): Self::Arguments,
    ) -> Result<Children, ActorProcessingErr> {
        Ok(Children { n, reported: 0, root })
    }

    async fn post_start(
        &self,
        myself: ActorRef<u64>,
        children: &mut Children,
    ) -> Result<(), ActorProcessingErr> {
        children.tell_if_done(&myself)
    }

    async fn handle(
        &self,
        myself: ActorRef<u64>,
        _child: u64,
        children: &mut Children,
    ) -> Result<(), ActorProcessingErr> {
        children.reported += 1;
        children.tell_if_done(&myself)
    }
}

/// Reports its number and stops.
struct Child;

impl Actor for Child {
    type Msg = ();
    type State = (u64, ActorRef<u64>);
    type Arguments = (u64, ActorRef<u64>);

    async fn pre_start(
        &self,
        _: ActorRef<()>,
        child: Self::Arguments,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(child)
    }

    async fn post_start(
        &self,
        myself: ActorRef<()>,
        (number, parent): &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        parent.cast(*number)?;
        myself.stop(None);
        Ok(())
    }
}

pub(crate) async fn fork_join(n: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();

    let start = Instant::now();
    let (parent, _) = Actor::spawn(None, Parent, (n, root)).await?;
    let mut sent = 0;
    for child in 0..n {
        Actor::spawn(None, Child, (child, parent.clone())).await?;
        sent += 1;
        if child % SPAWNS_PER_YIELD == SPAWNS_PER_YIELD - 1 {
            yield_now().await;
        }
    }
    let received = reports.recv().await.unwrap_or_default();
    Ok(Sample::new(start.elapsed(), n, sent, received))
}

/// Tree node: a leaf, or an inner node that adds up the reports of its children.
struct Node;

/// Report of a node to its parent.
#[derive(Clone, Copy, Default)]
struct Report {
    sum: u64,
    leaves: u64,
}

enum Above {
    Node(ActorRef<Report>),
    Root(UnboundedSender<Report>),
}

struct Branch {
    first: u64,
    size: u64,
    reported: u64,
    report: Report,
    above: Above,
}

impl Branch {
    fn new(first: u64, size: u64, above: Above) -> Self {
        Branch { first, size, reported: 0, report: Report::default(), above }
    }

    fn tell(&self, myself: &ActorRef<Report>) -> Result<(), ActorProcessingErr> {
        match &self.above {
            Above::Node(parent) => parent.cast(self.report)?,
            Above::Root(root) => root.send(self.report).map_err(|error| error.to_string())?,
        }
        myself.stop(None);
        Ok(())
    }
}

impl Actor for Node {
    type Msg = Report;
    type State = Branch;
    type Arguments = Branch;

    async fn pre_start(
        &self,
        _: ActorRef<Report>,
        branch: Branch,
    ) -> Result<Branch, ActorProcessingErr> {
        Ok(branch)
    }

    async fn post_start(
        &self,
        myself: ActorRef<Report>,
        branch: &mut Branch,
    ) -> Result<(), ActorProcessingErr> {
        if branch.size == 1 {
            branch.report = Report { sum: branch.first, leaves: 1 };
            return branch.tell(&myself);
        }
        let each = branch.size / CHILDREN;
        for child in 0..CHILDREN {
            let first = branch.first + child * each;
            grow(Branch::new(first, each, Above::Node(myself.clone()))).await?;
        }
        Ok(())
    }

    async fn handle(
        &self,
        myself: ActorRef<Report>,
        part: Report,
        branch: &mut Branch,
    ) -> Result<(), ActorProcessingErr> {
        branch.report.sum += part.sum;
        branch.report.leaves += part.leaves;
        branch.reported += 1;
        if branch.reported == CHILDREN { branch.tell(&myself) } else { Ok(()) }
    }
}

/// WHY boxed: the compiler cannot prove that a future that spawns its own type is `Send`.
fn grow(branch: Branch) -> Pin<Box<dyn Future<Output = Result<(), SpawnErr>> + Send>> {
    Box::pin(async move { Actor::spawn(None, Node, branch).await.map(drop) })
}

pub(crate) async fn skynet(leaves: u64) -> Outcome {
    let (root, mut reports) = unbounded_channel();

    let start = Instant::now();
    grow(Branch::new(0, leaves, Above::Root(root))).await?;
    let report = reports.recv().await.unwrap_or_default();
    Ok(Sample::new(start.elapsed(), leaves, leaves, report.leaves).with("sum", report.sum))
}
