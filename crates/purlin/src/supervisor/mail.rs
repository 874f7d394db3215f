//! Messages of a supervisor's mailbox, and the start functions of children, which they carry.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use crate::node::erlang_types::Peer;
use crate::process::unwind::Contained;

use super::children::Spec;
use super::error::{DeleteError, RestartError, StartChildError};
use super::requests::{ChildCounts, ChildInfo};
use super::strategy::Key;
use crate::{Down, Exit, ExitReason, Process, ProcessId, Reply, SpawnOptions};

/// Message of a supervisor's mailbox; only this crate can create one, except from an `Exit` or a
/// `Down`.
#[derive(Debug)]
pub struct SupervisorMail(pub(super) Mail);

/// A message to a supervisor.
pub(super) enum Mail {
    Exit(Exit),
    Down(Down),
    TryAgain(Key),
    /// This delay of the child's restart is over.
    Resume(Key, u64),
    /// Replied to once the initial children have been started.
    AreYouUp(Reply<()>),
    StartChild(Box<Spec<Start>>, Reply<Result<Peer, StartChildError>>),
    StartWith(Arguments, Reply<Result<Peer, StartChildError>>),
    FindOrStart(Arc<str>, Arguments, Reply<Result<Peer, StartChildError>>),
    RestartChild(Arc<str>, Reply<Result<Option<ProcessId>, RestartError>>),
    DeleteChild(Arc<str>, Reply<Result<(), DeleteError>>),
    /// The reply is whether there was such a child.
    TerminateChild(Arc<str>, Reply<bool>),
    TerminateProcess(ProcessId, Reply<bool>),
    WhichChildren(Reply<Vec<ChildInfo>>),
    CountChildren(Reply<ChildCounts>),
    Stop(ExitReason),
}

impl From<Exit> for SupervisorMail {
    fn from(exit: Exit) -> Self {
        Self(Mail::Exit(exit))
    }
}

impl From<Down> for SupervisorMail {
    fn from(down: Down) -> Self {
        Self(Mail::Down(down))
    }
}

impl fmt::Debug for Mail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exit(exit) => return fmt::Debug::fmt(exit, f),
            Self::Down(down) => return fmt::Debug::fmt(down, f),
            Self::TryAgain(_) => "TryAgain",
            Self::Resume(..) => "Resume",
            Self::AreYouUp(_) => "AreYouUp",
            Self::StartChild(..) | Self::StartWith(..) => "StartChild",
            Self::FindOrStart(..) => "FindOrStart",
            Self::RestartChild(..) => "RestartChild",
            Self::DeleteChild(..) => "DeleteChild",
            Self::TerminateChild(..) | Self::TerminateProcess(..) => "TerminateChild",
            Self::WhichChildren(_) => "WhichChildren",
            Self::CountChildren(_) => "CountChildren",
            Self::Stop(_) => "Stop",
        })
    }
}

/// Arguments of a child's start, which the supervisor drops if it starts no child.
pub(super) type Arguments = Contained<Box<dyn Any + Send>>;

/// Future of a child's start: the process, linked to its supervisor, or `None` if the start
/// returned `ignore`.
pub(crate) type Starting<'a> =
    Pin<Box<dyn Future<Output = Result<Option<Peer>, ExitReason>> + Send + 'a>>;

/// Start function of a child, called by the supervisor's process at each start and restart.
#[derive(Clone)]
pub(crate) struct Start {
    function: Contained<Arc<StartFn>>,
    /// Spawn options of the child.
    pub(super) options: SpawnOptions,
}

type StartFn = dyn Fn(&Process<SupervisorMail>, SpawnOptions) -> Starting<'_> + Send + Sync;

impl Start {
    pub(super) fn new(
        start: impl Fn(&Process<SupervisorMail>, SpawnOptions) -> Starting<'_> + Send + Sync + 'static,
    ) -> Self {
        Self { function: Contained::new(Arc::new(start)), options: SpawnOptions::new() }
    }

    pub(crate) fn call<'a>(&self, me: &'a Process<SupervisorMail>) -> Starting<'a> {
        (*self.function)(me, self.options.clone())
    }
}
