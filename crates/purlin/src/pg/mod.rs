//! Process groups: sets of processes under a name, which can be asked for and watched. What OTP calls
//! `pg`.
//!
//! Groups live in a *scope*, a server of its own name, of which a node may have several. A process may
//! be in many groups, and several times in one; when it ends it leaves them all. A group is there
//! while it has members.
//!
//! ```
//! use purlin::pg::{self, Change, Groups};
//! use purlin::{Message, Process, Reply, multi_call, spawn};
//!
//! #[derive(Message)]
//! enum Mail {
//!     #[from]
//!     Group(pg::Event),
//! }
//!
//! #[purlin::main]
//! async fn main(mut me: Process<Mail>) -> purlin::server::Result<()> {
//!     let groups = Groups::start("shop").await?;
//!     let (monitor, members) = groups.monitor(&me, "clerks").await?;
//!     assert!(members.is_empty());
//!
//!     let clerk = spawn(async |mut me: Process<Reply<u32>>| me.receive().await.send(7));
//!     groups.join("clerks", &clerk).await?;
//!     let Mail::Group(event) = me.receive().await;
//!     assert_eq!((event.monitor, event.change), (monitor, Change::Joined));
//!     assert_eq!(event.members, [clerk.id()]);
//!
//!     // Whoever knows the scope finds the members, and may ask them all.
//!     let clerks = Groups::find("shop").await?.members::<Reply<u32>>("clerks");
//!     let answers = multi_call(&clerks, |reply| reply, purlin::CALL_TIMEOUT).await;
//!     assert_eq!(answers, [Ok(7)]);
//!
//!     // It has answered and ends, and so it leaves.
//!     let Mail::Group(event) = me.receive().await;
//!     assert_eq!((event.change, event.members), (Change::Left, vec![clerk.id()]));
//!     Ok(())
//! }
//! ```
//!
//! Members are processes of the scope's own node.
//!
//! COST: looking at a group takes a lock that readers share, and a counted reference for each member;
//! everything else is a call to the scope, which monitors each member once.

mod events;
mod scope;
mod table;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

pub use events::{Change, Event, GroupMonitor};
use purlin_raw::Address;
pub use scope::{Request, Scope};

use self::scope::Ask;
use self::table::Shared;
use crate::home::Erlang;
use crate::process_ref::ToProcess;
use crate::server::{self, ServerRef, StartError};
use crate::signal::Peer;
use crate::{CallError, ExitReason, LookupError, Name, Pid, Process, ProcessId, Reply};

/// The groups of one scope, for those who use them.
///
/// COST: cloning counts two references.
#[derive(Clone)]
pub struct Groups {
    server: ServerRef<Scope>,
    shared: Arc<Shared>,
}

/// Why a process did not join a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinError {
    /// It belongs to another node than the scope.
    OtherNode(ProcessId),
    /// The scope did not answer.
    Scope(CallError),
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherNode(id) => write!(f, "process {id} is not of the node of the scope"),
            Self::Scope(error) => write!(f, "the scope did not answer: {error}"),
        }
    }
}

impl std::error::Error for JoinError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::OtherNode(_) => None,
            Self::Scope(error) => Some(error),
        }
    }
}

impl Groups {
    /// Starts a scope of that name on the current node, with no parent. As the child of a supervisor
    /// it is the server [`Scope`].
    ///
    /// # Errors
    /// The name is taken or none, or the node is full.
    pub async fn start(scope: &str) -> Result<Self, StartError> {
        Self::of(server::start(Name::from(scope)).await?).await
    }

    /// Starts a scope that is linked to the caller; see [`server::start_link`].
    ///
    /// # Errors
    /// As [`Groups::start`].
    pub async fn start_link(
        me: &Process<impl Send + 'static>,
        scope: &str,
    ) -> Result<Self, StartError> {
        Self::of(server::start_link(me, Name::from(scope)).await?).await
    }

    async fn of(server: ServerRef<Scope>) -> Result<Self, StartError> {
        let attached = Self::attach(server).await;
        attached.map_err(|error| StartError::Failed(ExitReason::error(error)))
    }

    /// The scope of the current node that has that name.
    ///
    /// # Errors
    /// Nobody has it, or a process that is no scope.
    pub async fn find(scope: &str) -> Result<Self, LookupError> {
        let server = ServerRef::whereis(scope)?;
        // It may have ended meanwhile.
        let attached = Self::attach(server).await;
        attached.map_err(|_| LookupError::NoName(Name::from(scope)))
    }

    async fn attach(server: ServerRef<Scope>) -> Result<Self, CallError> {
        let shared = server.call_timeout(|reply| Request(Ask::Share(reply)), Duration::MAX).await?;
        Ok(Self { server, shared })
    }

    /// Has a process join a group. It may do so several times, and leaves as often.
    ///
    /// Once this has returned the process is a member. One that has ended joins and leaves at once.
    ///
    /// *Cancellation*: dropping the future does not take the order back.
    ///
    /// # Errors
    /// [`JoinError`]: the process is of another node, or the scope has ended.
    pub async fn join(&self, group: &str, process: impl ToProcess) -> Result<(), JoinError> {
        let (id, found) = (process.id(), process.find().0);
        if id.creation() != self.server.id().creation() {
            return Err(JoinError::OtherNode(id));
        }
        let group = Name::from(group);
        let joined = self.ask(|reply| Ask::Join { group, id, found, reply }).await;
        joined.map_err(JoinError::Scope)
    }

    /// Has a process leave a group, once; says whether it was a member.
    ///
    /// *Cancellation*: dropping the future does not take the order back.
    ///
    /// # Errors
    /// The scope has ended.
    pub async fn leave(&self, group: &str, process: impl ToProcess) -> Result<bool, CallError> {
        let (id, group) = (process.id(), Name::from(group));
        self.ask(|reply| Ask::Leave { group, id, reply }).await
    }

    /// The members of a group that receive messages of type `M`, as often as they have joined; in no
    /// particular order. One that has ended is not among them; there are none when the scope has ended.
    pub fn members<M: Send + 'static>(&self, group: &str) -> Vec<Pid<M>> {
        let typed = |peer: Peer| peer.typed().map(|to: Address<Erlang, M>| Pid::new(to)).ok();
        self.shared.members(group).into_iter().filter_map(typed).collect()
    }

    /// The members of a group, whatever they receive; otherwise as [`Groups::members`].
    pub fn member_ids(&self, group: &str) -> Vec<ProcessId> {
        self.shared.members(group).iter().map(ProcessId::of).collect()
    }

    /// The groups that have members, sorted.
    pub fn which_groups(&self) -> Vec<Name> {
        self.shared.groups()
    }

    /// The server of the scope, to be linked to, monitored or stopped.
    pub fn server(&self) -> &ServerRef<Scope> {
        &self.server
    }

    async fn ask<T>(&self, ask: impl FnOnce(Reply<T>) -> Ask) -> Result<T, CallError> {
        self.server.call(|reply| Request(ask(reply))).await
    }
}

impl fmt::Debug for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Groups").field(&self.server.id()).finish()
    }
}
