//! Talking to a supervisor. From any process, thread or task; each request is a call that waits for
//! as long as the supervisor lives.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use super::child::ChildSpec;
use super::error::{DeleteError, RestartError, StartChildError, TerminateError};
use super::process::{Mail, SupervisorMail};
use super::requests::{ChildCounts, ChildInfo};
use crate::{CallError, ExitReason, LookupError, Pid, ProcessId, Reply, whereis};

/// A supervisor, for those who ask it for something.
///
/// It does one thing at a time: while it starts or stops a child, which may take long, requests wait.
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
///     // Its specification stays, so it can be started again, or taken away.
///     let pid = supervisor.restart_child("a").await.expect("it is not running");
///     assert!(pid.is_some());
///     assert_eq!(supervisor.restart_child("a").await, Err(RestartError::Running));
///     assert_eq!(supervisor.which_children().await.expect("it lives").len(), 1);
/// }
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct SupervisorRef(Pid<SupervisorMail>);

impl SupervisorRef {
    /// The supervisor whose process that is.
    pub fn new(pid: Pid<SupervisorMail>) -> Self {
        Self(pid)
    }

    /// The supervisor of the current node that has that name.
    ///
    /// # Errors
    /// Nobody has it, or somebody who is no supervisor.
    pub fn whereis(name: &str) -> Result<Self, LookupError> {
        whereis(name).map(Self)
    }

    /// Its process.
    pub fn pid(&self) -> &Pid<SupervisorMail> {
        &self.0
    }

    /// The identity of its process.
    pub fn id(&self) -> ProcessId {
        self.0.id()
    }

    async fn ask<T>(&self, request: impl FnOnce(Reply<T>) -> Mail) -> Result<T, CallError> {
        self.0.call_timeout(|reply| SupervisorMail(request(reply)), Duration::MAX).await
    }

    /// Adds a child behind all others and starts it; its process, or `None` if it was not needed.
    ///
    /// # Errors
    /// [`StartChildError`]; the child is not kept then.
    pub async fn start_child(
        &self,
        child: ChildSpec,
    ) -> Result<Option<ProcessId>, StartChildError> {
        let child = Box::new(child);
        let asked = self.ask(|reply| Mail::StartChild(child, reply)).await;
        asked.unwrap_or_else(|error| Err(StartChildError::NoSupervisor(error)))
    }

    /// Stops a child. Its specification stays, unless it is temporary; nothing is restarted, and it
    /// does not count for [`AutoShutdown`](super::AutoShutdown).
    ///
    /// # Errors
    /// [`TerminateError`]: there is none of that id.
    pub async fn terminate_child(&self, id: &str) -> Result<(), TerminateError> {
        let id = Arc::from(id);
        found(self.ask(|reply| Mail::TerminateChild(id, reply)).await)
    }

    /// Starts a child that has a specification and no process.
    ///
    /// # Errors
    /// [`RestartError`].
    pub async fn restart_child(&self, id: &str) -> Result<Option<ProcessId>, RestartError> {
        let id = Arc::from(id);
        let asked = self.ask(|reply| Mail::RestartChild(id, reply)).await;
        asked.unwrap_or_else(|error| Err(RestartError::NoSupervisor(error)))
    }

    /// Takes away the specification of a child that has no process.
    ///
    /// # Errors
    /// [`DeleteError`].
    pub async fn delete_child(&self, id: &str) -> Result<(), DeleteError> {
        let id = Arc::from(id);
        let asked = self.ask(|reply| Mail::DeleteChild(id, reply)).await;
        asked.unwrap_or_else(|error| Err(DeleteError::NoSupervisor(error)))
    }

    /// Its children, in the order of their start.
    ///
    /// # Errors
    /// The supervisor is gone, or ended meanwhile.
    pub async fn which_children(&self) -> Result<Vec<ChildInfo>, CallError> {
        self.ask(Mail::WhichChildren).await
    }

    /// How many children it has.
    ///
    /// # Errors
    /// The supervisor is gone, or ended meanwhile.
    pub async fn count_children(&self) -> Result<ChildCounts, CallError> {
        self.ask(Mail::CountChildren).await
    }

    /// Stops the supervisor, and its children before it, whoever asks; why it has ended. It ends with
    /// that reason unless it is ending for another.
    pub async fn stop(&self, reason: ExitReason) -> ExitReason {
        self.tell_to_stop(reason);
        self.0.ended().await
    }

    /// [`SupervisorRef::stop`], but does not wait.
    pub fn tell_to_stop(&self, reason: ExitReason) {
        self.0.send(SupervisorMail(Mail::Stop(reason)));
    }
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

/// A simple one for one supervisor, for those who ask it for something: see
/// [`SimpleSpec`](super::SimpleSpec).
pub struct SimpleRef<A> {
    supervisor: SupervisorRef,
    arguments: PhantomData<fn(A)>,
}

impl<A: Send + 'static> SimpleRef<A> {
    pub(super) fn new(supervisor: SupervisorRef) -> Self {
        Self { supervisor, arguments: PhantomData }
    }

    /// The supervisor of the current node that has that name. Whether it has children with such
    /// arguments shows when one is started.
    ///
    /// # Errors
    /// As [`SupervisorRef::whereis`].
    pub fn whereis(name: &str) -> Result<Self, LookupError> {
        SupervisorRef::whereis(name).map(Self::new)
    }

    /// Its process.
    pub fn pid(&self) -> &Pid<SupervisorMail> {
        self.supervisor.pid()
    }

    /// The identity of its process.
    pub fn id(&self) -> ProcessId {
        self.supervisor.id()
    }

    /// Starts a child with these arguments; its process, or `None` if it was not needed.
    ///
    /// # Errors
    /// [`StartChildError`]; the child is not kept then.
    pub async fn start_child(&self, arguments: A) -> Result<Option<ProcessId>, StartChildError> {
        let arguments = Box::new(arguments);
        let asked = self.supervisor.ask(|reply| Mail::StartWith(arguments, reply)).await;
        asked.unwrap_or_else(|error| Err(StartChildError::NoSupervisor(error)))
    }

    /// Stops a child; it is not restarted.
    ///
    /// # Errors
    /// [`TerminateError`]: the process lives and is no child. One that has ended is a child that was
    /// stopped.
    pub async fn terminate_child(&self, child: ProcessId) -> Result<(), TerminateError> {
        found(self.supervisor.ask(|reply| Mail::TerminateProcess(child, reply)).await)
    }

    /// As [`SupervisorRef::which_children`].
    ///
    /// # Errors
    /// As there.
    pub async fn which_children(&self) -> Result<Vec<ChildInfo>, CallError> {
        self.supervisor.which_children().await
    }

    /// As [`SupervisorRef::count_children`].
    ///
    /// # Errors
    /// As there.
    pub async fn count_children(&self) -> Result<ChildCounts, CallError> {
        self.supervisor.count_children().await
    }

    /// As [`SupervisorRef::stop`].
    pub async fn stop(&self, reason: ExitReason) -> ExitReason {
        self.supervisor.stop(reason).await
    }
}

impl<A> Clone for SimpleRef<A> {
    fn clone(&self) -> Self {
        Self { supervisor: self.supervisor.clone(), arguments: PhantomData }
    }
}

impl<A> fmt::Debug for SimpleRef<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SimpleRef").field(&self.supervisor.id()).finish()
    }
}
