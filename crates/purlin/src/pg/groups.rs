//! Client of a process group scope: joins, leaves and lists groups, as OTP's `pg`.
//!
//! A *scope* is a server with a registered name that owns a set of groups. It alone changes the table
//! of their members, which its clients share: a listing reads the table, any other operation is a
//! call to the server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use purlin_raw::Address;

use super::scope::{Ask, Request, Scope};
use super::table::Shared;
use crate::node::erlang_types::{ErlangTypes, Peer};
use crate::process::process_ref::ToProcess;
use crate::process::yielding::without_wait;
use crate::server::{self, ServerRef, StartError};
use crate::{CallError, ExitReason, LookupError, Name, Node, Pid, Process, ProcessId, Reply};

/// Client of a scope.
///
/// COST: cloning increments two reference counts.
#[derive(Clone)]
pub struct Groups {
    pub(super) server: ServerRef<Scope>,
    /// Members of all groups; changed by the server only.
    shared: Arc<Shared>,
}

/// Error returned when a process cannot join a group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinError {
    /// The process belongs to another node than the scope.
    OtherNode(ProcessId),
    /// The call to the scope failed.
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
    /// Starts a scope with that name and no parent on the current node. As the child of a
    /// supervisor, use the server [`Scope`].
    ///
    /// # Errors
    /// Returns an error if the name is taken or invalid, or the node is full.
    pub async fn start(scope: &str) -> Result<Self, StartError> {
        Self::of(server::start(()).name(scope).await?).await
    }

    /// Starts a scope that is linked to the caller; see [`server::start_link`].
    ///
    /// # Errors
    /// As [`Groups::start`].
    pub async fn start_link(
        me: &Process<impl Send + 'static>,
        scope: &str,
    ) -> Result<Self, StartError> {
        Self::of(server::start_link(me, ()).name(scope).await?).await
    }

    /// Creates the client of a server that has just started.
    async fn of(server: ServerRef<Scope>) -> Result<Self, StartError> {
        let attached = Self::attach(server).await;
        attached.map_err(|error| StartError::Failed(ExitReason::error(error)))
    }

    /// Returns the scope of the current node that is registered under that name.
    ///
    /// # Errors
    /// Returns an error if the name is free or belongs to a process that is not a scope, or if this
    /// thread runs no process: use [`Node::groups`] there.
    pub async fn find(scope: &str) -> Result<Self, LookupError> {
        Self::of_found(ServerRef::whereis(scope), scope).await
    }

    async fn of_found(
        found: Result<ServerRef<Scope>, LookupError>,
        scope: &str,
    ) -> Result<Self, LookupError> {
        let server = match found {
            Ok(server) => server,
            Err(error) => return Err(without_wait(error).await),
        };
        // The scope may have ended since the look-up.
        let attached = Self::attach(server).await;
        attached.map_err(|_| LookupError::NoName(Name::from(scope)))
    }

    /// Asks a server for its table. WHY without a timeout: the call also ends when the server does.
    async fn attach(server: ServerRef<Scope>) -> Result<Self, CallError> {
        let shared = server.call_timeout(|reply| Request(Ask::Share(reply)), Duration::MAX).await?;
        Ok(Self { server, shared })
    }

    /// Adds a process to a group. A process may join several times, and leaves once for each join.
    ///
    /// The process is a member when this returns. A process that has already ended joins, and leaves
    /// when the scope's monitor reports its end.
    ///
    /// *Cancellation*: dropping the future does not cancel the request.
    ///
    /// # Errors
    /// Returns [`JoinError`] if the process belongs to another node or the scope has ended.
    pub async fn join(&self, group: &str, process: impl ToProcess) -> Result<(), JoinError> {
        let (id, found) = (process.id(), process.find().0);
        if id.creation() != self.server.id().creation() {
            return without_wait(Err(JoinError::OtherNode(id))).await;
        }
        let group = Name::from(group);
        let joined = self.ask(|reply| Ask::Join { group, id, found, reply }).await;
        joined.map_err(JoinError::Scope)
    }

    /// Removes one membership of a process from a group; returns whether it was a member.
    ///
    /// *Cancellation*: dropping the future does not cancel the request.
    ///
    /// # Errors
    /// Returns an error if the scope has ended.
    pub async fn leave(&self, group: &str, process: impl ToProcess) -> Result<bool, CallError> {
        let (id, group) = (process.id(), Name::from(group));
        self.ask(|reply| Ask::Leave { group, id, reply }).await
    }

    /// Returns the members of a group that receive messages of type `M`, once per join, in no
    /// particular order. Members that have ended are left out. Returns none if the scope has ended.
    pub fn members<M: Send + 'static>(&self, group: &str) -> Vec<Pid<M>> {
        let typed = |peer: Peer| peer.typed().map(|to: Address<ErlangTypes, M>| Pid::new(to)).ok();
        self.shared.members(group).into_iter().filter_map(typed).collect()
    }

    /// Returns the ids of a group's members, of any message type; otherwise like
    /// [`Groups::members`].
    pub fn member_ids(&self, group: &str) -> Vec<ProcessId> {
        self.shared.members(group).iter().map(ProcessId::of).collect()
    }

    /// Returns the groups that have members, sorted.
    pub fn which_groups(&self) -> Vec<Name> {
        self.shared.groups()
    }

    /// Returns the scope's server, to link to, monitor or stop.
    pub fn server(&self) -> &ServerRef<Scope> {
        &self.server
    }

    /// Calls the server.
    pub(super) async fn ask<T>(&self, ask: impl FnOnce(Reply<T>) -> Ask) -> Result<T, CallError> {
        self.server.call(|reply| Request(ask(reply))).await
    }
}

impl Node {
    /// Returns the scope of this node that is registered under that name, from any task; see
    /// [`Groups::find`].
    ///
    /// # Errors
    /// Returns an error if the name is free or belongs to a process that is not a scope.
    pub async fn groups(&self, scope: &str) -> Result<Groups, LookupError> {
        Groups::of_found(self.server(scope), scope).await
    }
}

impl fmt::Debug for Groups {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Groups").field(&self.server.id()).finish()
    }
}
