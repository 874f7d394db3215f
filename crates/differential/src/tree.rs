//! Programs of the second kind: a tree of supervisors, and orders that are given one at a time.
//!
//! After each order the tree comes to rest before the next. So nothing depends on chance, and such a
//! program has one outcome: what was started and stopped in which order, what each order was
//! answered, and how the tree looks after it.

pub mod code;
pub mod generate;
pub mod model;
mod show;

pub use self::show::text;

use crate::language::Reason;

/// A child or a supervisor, by its number in the tree.
pub type Id = u8;

/// The supervisor at the top.
pub const TOP: Id = 0;

/// Which children the end of one concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// It alone.
    OneForOne,
    /// All.
    OneForAll,
    /// It, and those that were started after it.
    RestForOne,
}

/// Whether a child is restarted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Always.
    Permanent,
    /// Unless it ended in an orderly way.
    Transient,
    /// Never.
    Temporary,
}

/// Whether a supervisor ends with its significant children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AutoShutdown {
    /// No.
    Never,
    /// With the first of them.
    Any,
    /// With the last of them.
    All,
}

/// A supervisor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supervisor {
    /// What it does when a child ends.
    pub strategy: Strategy,
    /// How many restarts it does, in a period that is longer than any run.
    pub intensity: u8,
    /// Whether it ends by itself.
    pub auto_shutdown: AutoShutdown,
    /// Its first children, in the order of their start.
    pub children: Vec<Child>,
}

/// A child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// Its number, which no other has.
    pub id: Id,
    /// Whether it is restarted.
    pub restart: Restart,
    /// It is killed rather than asked.
    pub brutal: bool,
    /// Its end may be that of its supervisor.
    pub significant: bool,
    /// What it supervises, if it does.
    pub supervises: Option<Supervisor>,
}

/// What the tree is made to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A worker ends with that reason.
    End(Id, Reason),
    /// A worker is killed.
    Kill(Id),
    /// The next so many starts of a worker fail.
    Fail(Id, u8),
    /// `terminate_child`.
    Terminate(Id, Id),
    /// `restart_child`.
    Restart(Id, Id),
    /// `delete_child`.
    Delete(Id, Id),
    /// `start_child`, of a worker that is stopped by asking.
    Start(Id, Id, Restart),
    /// A stranger sends the supervisor `shutdown`.
    Stranger(Id),
}

/// A tree, and what is done to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The supervisor at the top.
    pub top: Supervisor,
    /// What is done, one after the other; in the end the top's parent tells it to stop.
    pub orders: Vec<Order>,
}

/// What an order is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Done.
    Done,
    /// There is no such child.
    NotFound,
    /// The child runs.
    Running,
    /// There is such a child, which does not run.
    AlreadyPresent,
    /// There is such a child, and it runs.
    AlreadyStarted,
    /// The start failed.
    Failed,
    /// The child is being restarted.
    Restarting,
    /// Whoever is meant does not live.
    Nobody,
}

impl Answer {
    /// All of them, in the order of their codes.
    pub const ALL: [Self; 8] = [
        Self::Done,
        Self::NotFound,
        Self::Running,
        Self::AlreadyPresent,
        Self::AlreadyStarted,
        Self::Failed,
        Self::Restarting,
        Self::Nobody,
    ];
}

/// What is seen of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A worker has started.
    Started(Id),
    /// A worker has refused to start.
    Refused(Id),
    /// A worker was told to stop, with that reason, and does.
    Stopped(Id, Reason),
    /// A worker ends as it was ordered.
    Ended(Id, Reason),
    /// The answer to the order.
    Answered(Answer),
    /// A child, as its supervisor tells of it after the order, and whether it runs.
    Child(Id, bool),
    /// The supervisor at the top has ended.
    Over(Reason),
}

impl Order {
    /// What the order is called where operations are counted.
    #[must_use]
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
    /// What it is called where operations are counted.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::OneForOne => "one_for_one",
            Self::OneForAll => "one_for_all",
            Self::RestForOne => "rest_for_one",
        }
    }
}

impl Tree {
    /// What it does, by the names of what is counted.
    #[must_use]
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
