//! Client handle of a supervisor.
//!
//! Usable from any process, thread or task. Each request is a call without a timeout; it ends when
//! the supervisor replies or ends.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use super::child::ChildSpec;
use super::error::{DeleteError, RestartError, StartChildError, TerminateError};
use super::handle::ChildHandle;
use super::mail::{Arguments, Mail, SupervisorMail};
use super::requests::{ChildCounts, ChildInfo};
use crate::node::erlang_types::Peer;
use crate::process::process_ref::sealed::Found;
use crate::process::unwind::Contained;
use crate::{CallError, ExitReason, LookupError, Node, Pid, ProcessId, Reply, ToProcess, whereis};

/// Client handle of a supervisor.
///
/// A supervisor handles one request at a time. While it starts or stops a child, which may take
/// long, other requests wait.
///
/// ```
/// use purlin::Process;
/// use purlin::supervisor::{ChildSpec, RestartError, SupervisorSpec};
///
/// async fn idle(mut me: Process<()>) {
///     me.receive().await;
/// }
///
/// #[purlin::main]
/// async fn main(me: Process<()>) {
///     let supervisor = SupervisorSpec::one_for_one().start_link(&me).await.expect("it starts");
///     supervisor.start_child(ChildSpec::worker("a", idle)).await.expect("the id is free");
///     supervisor.terminate_child("a").await.expect("it is there");
///     // The child spec stays, so the child can be restarted or deleted.
///     let pid = supervisor.restart_child("a").await.expect("it is not running");
///     assert!(pid.is_some());
///     assert_eq!(supervisor.restart_child("a").await, Err(RestartError::Running));
///     assert_eq!(supervisor.which_children().await.expect("it lives").len(), 1);
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SupervisorRef(Pid<SupervisorMail>);

impl SupervisorRef {
    /// Returns the handle of the supervisor with this pid.
    pub fn new(pid: Pid<SupervisorMail>) -> Self {
        Self(pid)
    }

    /// Returns the supervisor of the current node that is registered under that name.
    ///
    /// # Errors
    /// Returns an error if the name is free or belongs to a process that is not a supervisor, or if
    /// this thread runs no process: use [`Node::supervisor`] there.
    pub fn whereis(name: &str) -> Result<Self, LookupError> {
        whereis(name).map(Self)
    }

    /// Returns the pid of the supervisor's process.
    pub fn pid(&self) -> &Pid<SupervisorMail> {
        &self.0
    }

    /// Returns the identity of the supervisor's process.
    pub fn id(&self) -> ProcessId {
        self.0.id()
    }

    async fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Mail) -> Result<T, CallError> {
        self.0.call_timeout(|reply| SupervisorMail(request(reply)), Duration::MAX).await
    }

    /// Adds a child after all others and starts it. Returns the handle on its process.
    ///
    /// # Errors
    /// Returns [`StartChildError`]; the supervisor does not keep the child spec then, except after
    /// [`StartChildError::Ignored`].
    pub async fn start_child<C: ChildHandle>(
        &self,
        child: ChildSpec<C>,
    ) -> Result<C, StartChildError> {
        let child = Box::new(child.into_spec());
        started(self.ask(|reply| Mail::StartChild(child, reply)).await)
    }

    /// Stops a child. Its child spec stays, unless the child is temporary. No child is restarted,
    /// and the stop does not count for [`AutoShutdown`](super::AutoShutdown).
    ///
    /// # Errors
    /// Returns [`TerminateError`] if there is no child with this id.
    pub async fn terminate_child(&self, id: &str) -> Result<(), TerminateError> {
        let id = Arc::from(id);
        found(self.ask(|reply| Mail::TerminateChild(id, reply)).await)
    }

    /// Starts a child that has a child spec and no process, for example one that was given up.
    /// Returns its process, or `None` if the child's start returned `ignore`. Earlier restarts of
    /// the child no longer count for its [`intensity`](super::ChildSpec::intensity) and
    /// [`backoff`](super::ChildSpec::backoff).
    ///
    /// # Errors
    /// Returns [`RestartError`].
    pub async fn restart_child(&self, id: &str) -> Result<Option<ProcessId>, RestartError> {
        let id = Arc::from(id);
        let asked = self.ask(|reply| Mail::RestartChild(id, reply)).await;
        asked.unwrap_or_else(|error| Err(RestartError::NoSupervisor(error)))
    }

    /// Deletes the child spec of a child that has no process.
    ///
    /// # Errors
    /// Returns [`DeleteError`].
    pub async fn delete_child(&self, id: &str) -> Result<(), DeleteError> {
        let id = Arc::from(id);
        let asked = self.ask(|reply| Mail::DeleteChild(id, reply)).await;
        asked.unwrap_or_else(|error| Err(DeleteError::NoSupervisor(error)))
    }

    /// Returns the children in start order.
    ///
    /// # Errors
    /// Returns an error if the supervisor has ended or ends before it replies.
    pub async fn which_children(&self) -> Result<Vec<ChildInfo>, CallError> {
        self.ask(Mail::WhichChildren).await
    }

    /// Returns the numbers of children.
    ///
    /// # Errors
    /// Returns an error if the supervisor has ended or ends before it replies.
    pub async fn count_children(&self) -> Result<ChildCounts, CallError> {
        self.ask(Mail::CountChildren).await
    }

    /// Stops the supervisor after its children, from any caller, and returns its exit reason. That
    /// is `reason`, unless the supervisor was already ending for another.
    pub async fn stop(&self, reason: ExitReason) -> ExitReason {
        self.request_stop(reason);
        self.0.ended().await
    }

    /// Like [`SupervisorRef::stop`], without waiting.
    pub fn request_stop(&self, reason: ExitReason) {
        self.0.send(SupervisorMail(Mail::Stop(reason)));
    }
}

/// Returns the handle on a started child.
fn started<C: ChildHandle>(
    asked: Result<Result<Peer, StartChildError>, CallError>,
) -> Result<C, StartChildError> {
    let peer = asked.unwrap_or_else(|error| Err(StartChildError::NoSupervisor(error)))?;
    C::of(Found(Some(peer))).ok_or(StartChildError::OtherType)
}

fn found(asked: Result<bool, CallError>) -> Result<(), TerminateError> {
    match asked {
        Ok(true) => Ok(()),
        Ok(false) => Err(TerminateError::NotFound),
        Err(error) => Err(TerminateError::NoSupervisor(error)),
    }
}

impl fmt::Debug for SupervisorRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SupervisorRef").field(&self.id()).finish()
    }
}

/// Client handle of a dynamic supervisor (OTP's `simple_one_for_one`): see
/// [`DynamicSupervisorSpec`](super::DynamicSupervisorSpec).
pub struct DynamicSupervisorRef<A, C = ProcessId> {
    supervisor: SupervisorRef,
    types: PhantomData<fn(A) -> C>,
}

impl<A: Send + 'static, C: ChildHandle> DynamicSupervisorRef<A, C> {
    /// Returns the handle of a dynamic supervisor. Whether its children take arguments of type `A`
    /// and have handles of type `C` is checked when a child is started.
    pub fn new(supervisor: SupervisorRef) -> Self {
        Self { supervisor, types: PhantomData }
    }

    /// Returns the supervisor of the current node that is registered under that name; see
    /// [`DynamicSupervisorRef::new`]. Elsewhere than in a process, use
    /// [`Node::dynamic_supervisor`].
    ///
    /// # Errors
    /// As [`SupervisorRef::whereis`].
    pub fn whereis(name: &str) -> Result<Self, LookupError> {
        SupervisorRef::whereis(name).map(Self::new)
    }

    /// Returns the pid of the supervisor's process.
    pub fn pid(&self) -> &Pid<SupervisorMail> {
        self.supervisor.pid()
    }

    /// Returns the identity of the supervisor's process.
    pub fn id(&self) -> ProcessId {
        self.supervisor.id()
    }

    /// Starts a child with these arguments. Returns the handle on its process.
    ///
    /// # Errors
    /// Returns [`StartChildError`]; the supervisor does not keep the child then.
    pub async fn start_child(&self, arguments: A) -> Result<C, StartChildError> {
        let arguments: Arguments = Contained::new(Box::new(arguments));
        started(self.supervisor.ask(|reply| Mail::StartWith(arguments, reply)).await)
    }

    /// Returns the handle on the live child with this key, or starts one with these arguments.
    ///
    /// The supervisor handles one request at a time, so two callers with one key get the same
    /// child. The key is the id of the child in reports and in
    /// [`which_children`](Self::which_children). When a child ends and is not restarted, its key is
    /// free again.
    ///
    /// ```
    /// use purlin::Process;
    /// use purlin::supervisor::{ChildTemplate, Restart, SupervisorSpec};
    ///
    /// async fn room(mut me: Process<String>, motto: &'static str) {
    ///     println!("{motto}: {}", me.receive().await);
    /// }
    ///
    /// #[purlin::main]
    /// async fn main(me: Process<()>) {
    ///     let template = ChildTemplate::worker("room", room).restart(Restart::Transient);
    ///     let rooms = SupervisorSpec::simple_one_for_one(template).max_children(1000);
    ///     let rooms = rooms.start_link(&me).await.expect("it has no children yet");
    ///     let lobby = rooms.find_or_start("lobby", "welcome").await.expect("it starts");
    ///     assert_eq!(rooms.find_or_start("lobby", "welcome").await, Ok(lobby));
    /// }
    /// ```
    ///
    /// A child may end after it was returned, for example because it was idle. A call to it then
    /// fails with [`CallError::NoProcess`], and the caller asks again.
    ///
    /// # Errors
    /// Returns [`StartChildError`]: [`StartChildError::Restarting`] while the child waits for its
    /// restart, has ended immediately after it, or has ended and its exit signal has not arrived.
    ///
    /// COST: a call of the supervisor, also if the child exists.
    pub async fn find_or_start(&self, key: &str, arguments: A) -> Result<C, StartChildError> {
        let (key, arguments): (_, Arguments) =
            (Arc::from(key), Contained::new(Box::new(arguments)));
        started(self.supervisor.ask(|reply| Mail::FindOrStart(key, arguments, reply)).await)
    }

    /// Stops a child, given by its handle or its id; it is not restarted.
    ///
    /// # Errors
    /// Returns [`TerminateError`] if the process lives and is not a child. A process that has ended
    /// counts as a stopped child.
    pub async fn terminate_child(&self, child: impl ToProcess) -> Result<(), TerminateError> {
        let child = child.id();
        found(self.supervisor.ask(|reply| Mail::TerminateProcess(child, reply)).await)
    }

    /// Like [`SupervisorRef::which_children`].
    ///
    /// # Errors
    /// As [`SupervisorRef::which_children`].
    pub async fn which_children(&self) -> Result<Vec<ChildInfo>, CallError> {
        self.supervisor.which_children().await
    }

    /// Like [`SupervisorRef::count_children`].
    ///
    /// # Errors
    /// As [`SupervisorRef::count_children`].
    pub async fn count_children(&self) -> Result<ChildCounts, CallError> {
        self.supervisor.count_children().await
    }

    /// Like [`SupervisorRef::stop`].
    pub async fn stop(&self, reason: ExitReason) -> ExitReason {
        self.supervisor.stop(reason).await
    }
}

impl Node {
    /// Returns the supervisor of this node that is registered under that name, from any thread or
    /// task.
    ///
    /// # Errors
    /// Returns an error if the name is free or belongs to a process that is not a supervisor.
    pub fn supervisor(&self, name: &str) -> Result<SupervisorRef, LookupError> {
        self.whereis(name).map(SupervisorRef)
    }

    /// Returns the dynamic supervisor of this node that is registered under that name, from any
    /// thread or task; see [`DynamicSupervisorRef::new`].
    ///
    /// # Errors
    /// As [`Node::supervisor`].
    pub fn dynamic_supervisor<A: Send + 'static, C: ChildHandle>(
        &self,
        name: &str,
    ) -> Result<DynamicSupervisorRef<A, C>, LookupError> {
        self.supervisor(name).map(DynamicSupervisorRef::new)
    }
}

impl<A, C> Clone for DynamicSupervisorRef<A, C> {
    fn clone(&self) -> Self {
        Self { supervisor: self.supervisor.clone(), types: PhantomData }
    }
}

impl<A, C> fmt::Debug for DynamicSupervisorRef<A, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DynamicSupervisorRef").field(&self.supervisor.id()).finish()
    }
}
