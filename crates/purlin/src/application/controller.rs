//! Which applications a node has; starting one, and stopping all in good order.
//!
//! From any thread, process or task.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::ApplicationSpec;
use super::master::{Mail, master};
use crate::supervisor::LAST_MOMENT;
use crate::{ExitReason, Name, Node, Pid, ProcessId};

/// An application that was started.
#[derive(Clone)]
pub struct ApplicationRef {
    name: Name,
    shutdown: Duration,
    master: Pid<Mail>,
}

/// Why an application was not started.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ApplicationError {
    /// One of that name runs, or is being started or stopped.
    AlreadyStarted(Name),
    /// Its top supervisor was not started, for that reason.
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

/// The applications of a node, in the order of their start.
#[derive(Debug, Default)]
pub(crate) struct Applications(Mutex<Vec<ApplicationRef>>);

impl Applications {
    fn lock(&self) -> MutexGuard<'_, Vec<ApplicationRef>> {
        // WHY: nobody panics while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Those that run.
    pub(crate) fn running(&self) -> Vec<ApplicationRef> {
        self.lock().iter().filter(|one| one.master.is_alive()).cloned().collect()
    }

    /// The node has stopped them.
    pub(crate) fn forget(&self) {
        drop(std::mem::take(&mut *self.lock()));
    }
}

impl Node {
    /// Starts an application on this node and waits until its tree has been started (G4).
    ///
    /// *Cancellation*: dropping the future leaves the application to itself.
    ///
    /// # Errors
    /// [`ApplicationError`]: there is one of that name, or its supervisor could not be started.
    pub async fn start_application(
        &self,
        spec: ApplicationSpec,
    ) -> Result<ApplicationRef, ApplicationError> {
        let application = self.begin_application(spec)?;
        application.up().await?;
        Ok(application)
    }

    /// [`Node::start_application`], but does not wait.
    pub(super) fn begin_application(
        &self,
        spec: ApplicationSpec,
    ) -> Result<ApplicationRef, ApplicationError> {
        let (name, shutdown) = (spec.name.clone(), spec.shutdown);
        let mut applications = self.home().applications.lock();
        applications.retain(|one| one.master.is_alive());
        if applications.iter().any(|one| one.name == name) {
            return Err(ApplicationError::AlreadyStarted(name));
        }
        let master = self.spawn(move |me| master(me, spec));
        let begun = ApplicationRef { name, shutdown, master };
        applications.push(begun.clone());
        Ok(begun)
    }

    /// The application of that name, if it runs on this node.
    pub fn application(&self, name: &str) -> Option<ApplicationRef> {
        self.home().applications.running().into_iter().find(|one| &*one.name == name)
    }

    /// The names of the applications that run on this node, in the order of their start.
    pub fn applications(&self) -> Vec<Name> {
        self.home().applications.running().into_iter().map(|one| one.name).collect()
    }
}

impl ApplicationRef {
    /// What it is called.
    pub fn name(&self) -> &Name {
        &self.name
    }

    /// The identity of its master, above all of its other processes.
    pub fn id(&self) -> ProcessId {
        self.master.id()
    }

    /// Waits until its tree has been started.
    pub(super) async fn up(&self) -> Result<(), ApplicationError> {
        let up = self.master.answer_or_end(Mail::AreYouUp).await;
        up.map_err(|reason| ApplicationError::Failed(self.name.clone(), reason))
    }

    /// How long it has to stop.
    pub(crate) fn patience(&self) -> Duration {
        self.shutdown.saturating_add(LAST_MOMENT)
    }

    /// Stops the application and waits until it has: what was to be done before, then its tree, then
    /// what was to be done after. If that takes longer than it may, its master is killed, and what is
    /// left of the tree is told to end.
    ///
    /// Why it has ended: `normal` if it was stopped in time.
    ///
    /// # Panics
    /// Where there is neither a node nor a tokio runtime to measure time.
    pub async fn stop(&self) -> ExitReason {
        self.master.send(Mail::Stop);
        if let Some(reason) = self.master.ended_within(self.shutdown).await {
            return reason;
        }
        tracing::error!(application = %self.name, time = ?self.shutdown, "application did not stop in time");
        self.master.exit(ExitReason::Kill);
        self.master.ended_within(LAST_MOMENT).await.unwrap_or(ExitReason::Killed)
    }

    /// Waits until it has ended, and says why.
    pub async fn ended(&self) -> ExitReason {
        self.master.ended().await
    }
}

/// The function of the process that stops a node's applications, the last one first.
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
