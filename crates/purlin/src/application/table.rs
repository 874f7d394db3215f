//! Table of a node's applications, and the handle of an application.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::process::unwind::contain;
use crate::supervisor::KILL_GRACE;
use crate::{Exit, ExitReason, Name, Pid, ProcessId, Reply};

/// Handle to a started application.
#[derive(Clone)]
pub struct ApplicationRef {
    pub(super) name: Name,
    pub(crate) shutdown: Duration,
    pub(super) master: Pid<Mail>,
}

/// Messages a master receives.
pub(super) enum Mail {
    Exit(Exit),
    /// Replied to once the supervision tree is up.
    AreYouUp(Reply<()>),
    Stop,
}

impl From<Exit> for Mail {
    fn from(exit: Exit) -> Self {
        Self::Exit(exit)
    }
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

/// Applications of a node.
#[derive(Debug, Default)]
pub(crate) struct Applications(Mutex<Table>);

#[derive(Debug, Default)]
pub(super) struct Table {
    /// In start order; some may have ended.
    pub(super) started: Vec<ApplicationRef>,
    /// Whether the node is stopping and starts no more applications.
    pub(super) closed: bool,
}

impl Applications {
    pub(super) fn lock(&self) -> MutexGuard<'_, Table> {
        // WHY: no code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the applications that are running.
    pub(crate) fn running(&self) -> Vec<ApplicationRef> {
        self.lock().started.iter().filter(|one| one.is_alive()).cloned().collect()
    }

    /// Lets no more applications start. Returns whether one is running.
    pub(crate) fn close(&self) -> bool {
        let mut table = self.lock();
        table.closed = true;
        table.started.iter().any(ApplicationRef::is_alive)
    }

    /// Forgets all applications; called when the node has stopped them.
    pub(crate) fn forget(&self) {
        let applications = std::mem::take(&mut self.lock().started);
        // WHY after the lock: the exit reason of a master may hold a user value.
        drop(applications);
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

    /// Returns whether the application has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        self.master.is_alive()
    }

    /// Requests a stop like [`ApplicationRef::stop`], without waiting.
    pub(crate) fn request_stop(&self) {
        self.master.send(Mail::Stop);
    }

    /// Kills the master of an application that has not stopped in its shutdown time.
    pub(crate) fn kill(&self) {
        contain(|| {
            tracing::error!(application = %self.name, time = ?self.shutdown, "application did not stop in time");
        });
        self.master.exit(ExitReason::Kill);
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
        self.request_stop();
        if let Some(reason) = self.master.ended_within(self.shutdown).await {
            return reason;
        }
        self.kill();
        self.master.ended_within(KILL_GRACE).await.unwrap_or(ExitReason::Killed)
    }

    /// Waits until the application has ended and returns the exit reason of its master.
    pub async fn ended(&self) -> ExitReason {
        self.master.ended().await
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
