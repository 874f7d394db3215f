//! Application controller: starts, lists and stops the applications of a node.
//!
//! Every function may be called from any thread, process or task.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::ApplicationSpec;
use super::master::{Mail, master};
use crate::supervisor::KILL_GRACE;
use crate::{ExitReason, Name, Node, Pid, ProcessId};

/// Handle to a started application.
#[derive(Clone)]
pub struct ApplicationRef {
    name: Name,
    shutdown: Duration,
    master: Pid<Mail>,
}

/// Error returned when an application cannot be started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApplicationError {
    /// An application of that name is running, starting or stopping.
    AlreadyStarted(Name),
    /// The application's top supervisor did not start, for this reason.
    Failed(Name, ExitReason),
}

impl fmt::Display for ApplicationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AlreadyStarted(name) => write!(f, "application {name} has been started already"),
            Self::Failed(name, reason) => write!(f, "application {name} was not started: {reason}"),
        }
    }
}

impl std::error::Error for ApplicationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::AlreadyStarted(_) => None,
            Self::Failed(_, reason) => Some(reason),
        }
    }
}

/// Applications of a node, in start order.
#[derive(Debug, Default)]
pub(crate) struct Applications(Mutex<Vec<ApplicationRef>>);

impl Applications {
    fn lock(&self) -> MutexGuard<'_, Vec<ApplicationRef>> {
        // WHY: no code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the applications that are running.
    pub(crate) fn running(&self) -> Vec<ApplicationRef> {
        self.lock().iter().filter(|one| one.master.is_alive()).cloned().collect()
    }

    /// Forgets all applications; called when the node has stopped them.
    pub(crate) fn forget(&self) {
        drop(std::mem::take(&mut *self.lock()));
    }
}

impl Node {
    /// Starts an application on this node and waits until its supervision tree is up (G4).
    ///
    /// *Cancellation*: dropping the future does not stop the application.
    ///
    /// # Errors
    /// Returns [`ApplicationError`] if an application of that name exists or its top supervisor
    /// fails to start.
    pub async fn start_application(
        &self,
        spec: ApplicationSpec,
    ) -> Result<ApplicationRef, ApplicationError> {
        let application = self.begin_application(spec)?;
        application.up().await?;
        Ok(application)
    }

    /// Starts an application like [`Node::start_application`], without waiting for its supervision
    /// tree.
    pub(super) fn begin_application(
        &self,
        spec: ApplicationSpec,
    ) -> Result<ApplicationRef, ApplicationError> {
        let (name, shutdown) = (spec.name.clone(), spec.shutdown);
        let mut applications = self.node_state().applications.lock();
        applications.retain(|one| one.master.is_alive());
        if applications.iter().any(|one| one.name == name) {
            return Err(ApplicationError::AlreadyStarted(name));
        }
        let master = self.spawn(move |me| master(me, spec));
        let begun = ApplicationRef { name, shutdown, master };
        applications.push(begun.clone());
        Ok(begun)
    }

    /// Returns the running application of that name.
    pub fn application(&self, name: &str) -> Option<ApplicationRef> {
        self.node_state().applications.running().into_iter().find(|one| &*one.name == name)
    }

    /// Returns the names of the running applications, in start order.
    pub fn applications(&self) -> Vec<Name> {
        self.node_state().applications.running().into_iter().map(|one| one.name).collect()
    }
}

impl ApplicationRef {
    /// Returns the application's name.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// Returns the identity of the application master, the parent of the application's top
    /// supervisor.
    pub fn id(&self) -> ProcessId {
        self.master.id()
    }

    /// Waits until the supervision tree is up.
    pub(super) async fn up(&self) -> Result<(), ApplicationError> {
        let up = self.master.answer_or_end(Mail::AreYouUp).await;
        up.map_err(|reason| ApplicationError::Failed(self.name.clone(), reason))
    }

    /// Returns the longest time a stop can take: the shutdown time, plus the wait for a killed
    /// master.
    pub(crate) fn stop_timeout(&self) -> Duration {
        self.shutdown.saturating_add(KILL_GRACE)
    }

    /// Stops the application and waits until it has ended: calls the `prep_stop` hook, stops the
    /// supervision tree, and calls the `stop` hook.
    ///
    /// If this exceeds the application's shutdown time, the master is killed, and the rest of the
    /// tree is sent exit signals through its links.
    ///
    /// Returns the exit reason of the master: `normal` if the application stopped in time.
    ///
    /// # Panics
    /// Panics if there is neither a node nor a tokio runtime to provide the timer.
    pub async fn stop(&self) -> ExitReason {
        self.master.send(Mail::Stop);
        if let Some(reason) = self.master.ended_within(self.shutdown).await {
            return reason;
        }
        tracing::error!(application = %self.name, time = ?self.shutdown, "application did not stop in time");
        self.master.exit(ExitReason::Kill);
        self.master.ended_within(KILL_GRACE).await.unwrap_or(ExitReason::Killed)
    }

    /// Waits until the application has ended and returns the exit reason of its master.
    pub async fn ended(&self) -> ExitReason {
        self.master.ended().await
    }
}

/// Stops a node's applications in reverse start order; runs as a process of the node.
pub(crate) async fn stop_all(applications: Vec<ApplicationRef>) {
    for application in applications.iter().rev() {
        application.stop().await;
    }
}

impl fmt::Debug for ApplicationRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ApplicationRef")
            .field("name", &self.name)
            .field("master", &self.master.id())
            .finish_non_exhaustive()
    }
}
