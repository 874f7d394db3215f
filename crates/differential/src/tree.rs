//! Programs of the second kind: a tree of supervisors, and orders that are given one at a time.
//!
//! The tree comes to rest after each order, before the next one. So nothing depends on scheduling,
//! and such a program has exactly one outcome: the order of starts and stops, the answer to each
//! order, and the children of the tree after it.

pub mod generate;
pub mod model;

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::language::Reason;

/// A child or a supervisor, by its number in the tree.
pub type Id = u8;

/// The top supervisor.
pub const TOP: Id = 0;

/// Restart strategy: the children that are restarted when one ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// Only the child that ended.
    OneForOne,
    /// All children.
    OneForAll,
    /// The child that ended, and those that were started after it.
    RestForOne,
}

/// Restart type of a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Restart {
    /// Always restarted.
    Permanent,
    /// Restarted unless its exit reason is `normal`, `shutdown` or `{shutdown, _}`.
    Transient,
    /// Never restarted.
    Temporary,
}

/// Whether a supervisor shuts down when significant children end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AutoShutdown {
    /// It does not.
    Never,
    /// When the first of them ends.
    #[serde(rename = "any_significant")]
    Any,
    /// When the last of them ends.
    #[serde(rename = "all_significant")]
    All,
}

/// A supervisor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Supervisor {
    /// Restart strategy.
    pub strategy: Strategy,
    /// Maximum number of restarts, in a period that is longer than any run.
    pub intensity: u8,
    /// Automatic shutdown.
    pub auto_shutdown: AutoShutdown,
    /// Initial children, in the order of their start.
    pub children: Vec<Child>,
}

/// A child.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Child {
    /// Unique number.
    pub id: Id,
    /// Restart type.
    pub restart: Restart,
    /// Whether the shutdown is `brutal_kill`.
    pub brutal: bool,
    /// Whether the child is significant.
    pub significant: bool,
    /// The supervisor, if the child is one.
    pub supervises: Option<Supervisor>,
}

/// An order to the tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// A worker ends with this reason.
    End(Id, Reason),
    /// A worker is killed.
    Kill(Id),
    /// The given number of further starts of a worker fail.
    Fail(Id, u8),
    /// `terminate_child`.
    Terminate(Id, Id),
    /// `restart_child`.
    Restart(Id, Id),
    /// `delete_child`.
    Delete(Id, Id),
    /// `start_child` with a worker whose shutdown is `infinity`.
    Start(Id, Id, Restart),
    /// A process other than the parent sends the supervisor `shutdown`.
    Stranger(Id),
}

/// A tree and the orders to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tree {
    /// The top supervisor.
    pub top: Supervisor,
    /// Orders, given one after the other; then the parent of the top supervisor stops it.
    pub orders: Vec<Order>,
}

/// Answer to an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The order was executed.
    Done,
    /// There is no such child.
    NotFound,
    /// The child is running.
    Running,
    /// The child exists and is not running.
    AlreadyPresent,
    /// The child exists and is running.
    AlreadyStarted,
    /// The start failed.
    Failed,
    /// The child is being restarted.
    Restarting,
    /// The addressed process is not alive.
    NoProcess,
}

/// An observation of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// A worker has started.
    Started(Id),
    /// A worker has refused to start.
    Refused(Id),
    /// A worker got an exit signal with this reason and ends.
    Stopped(Id, Reason),
    /// A worker ends because of an order.
    Ended(Id, Reason),
    /// The answer to the order.
    Answered(Answer),
    /// A child as listed by its supervisor after the order, and whether it is running.
    Child(Id, bool),
    /// The top supervisor has ended.
    Over(Reason),
}

impl Order {
    /// Returns the label under which the order is counted.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::End(..) => "a worker ends",
            Self::Kill(_) => "a worker is killed",
            Self::Fail(..) => "starts fail",
            Self::Terminate(..) => "terminate_child",
            Self::Restart(..) => "restart_child",
            Self::Delete(..) => "delete_child",
            Self::Start(..) => "start_child",
            Self::Stranger(_) => "a stranger says shutdown",
        }
    }
}

impl Strategy {
    /// Returns the label under which the strategy is counted.
    pub fn kind(self) -> &'static str {
        match self {
            Self::OneForOne => "one_for_one",
            Self::OneForAll => "one_for_all",
            Self::RestForOne => "rest_for_one",
        }
    }
}

impl Tree {
    /// Returns the labels under which the tree is counted.
    pub fn kinds(&self) -> Vec<&'static str> {
        let orders = self.orders.iter().map(Order::kind);
        let mut kinds: Vec<_> = orders.chain([self.top.strategy.kind()]).collect();
        if self.top.auto_shutdown != AutoShutdown::Never {
            kinds.push("auto_shutdown");
        }
        if self.top.children.iter().any(|child| child.supervises.is_some()) {
            kinds.push("a supervisor as a child");
        }
        kinds
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:#?}", self.top)?;
        f.write_str("orders:")?;
        self.orders.iter().try_for_each(|order| write!(f, "  {order:?};"))?;
        writeln!(f)
    }
}

/// Returns all events in one line.
pub fn text(events: &[Event]) -> String {
    events.iter().map(|event| format!("  {event:?};")).collect()
}
