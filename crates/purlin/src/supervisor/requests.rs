//! Requests to a supervisor, by OTP's rules.
//!
//! Called only by the supervisor's process, between the exits of children.

use std::sync::Arc;

use super::ChildType;
use super::children::{Child, ChildState, Spec};
use super::effects::Effects;
use super::error::{DeleteError, RestartError, StartChildError};
use super::strategy::{Key, Strategy};
use super::supervisor_core::SupervisorCore;
use crate::{ExitReason, ProcessId};

/// Numbers of a supervisor's children.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildCounts {
    /// Child specs, whether or not the child runs; 1 for a dynamic supervisor.
    pub specs: usize,
    /// Running children.
    pub active: usize,
    /// Children that are supervisors, running or not.
    pub supervisors: usize,
    /// Children that are workers, running or not.
    pub workers: usize,
}

/// Information about a child, as in OTP's `which_children`.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildInfo {
    /// Id of the child; for a child of a dynamic supervisor the template's id, or the key given to
    /// [`find_or_start`](super::DynamicSupervisorRef::find_or_start).
    pub id: Arc<str>,
    /// Process of the child.
    pub process: ChildProcess,
    /// Type of the child.
    pub child_type: ChildType,
}

/// State of a child's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildProcess {
    /// The child was started, and its exit has not been handled.
    Running(ProcessId),
    /// A restart is delayed, or failed and will be tried again.
    Restarting,
    /// The child has no process: Erlang's `undefined`.
    Absent,
}

/// Requests to a supervisor whose children have ids.
impl<H: Effects> SupervisorCore<H> {
    /// Adds a child after the others and starts it. If the start fails the child is removed.
    pub(crate) async fn start_child(
        &mut self,
        spec: Spec<H::Start>,
    ) -> Result<Option<ProcessId>, StartChildError> {
        match self.named(&spec.id) {
            None => {}
            Some((_, ChildState::Running(process))) => {
                return Err(StartChildError::AlreadyStarted(process));
            }
            Some(_) => return Err(StartChildError::AlreadyPresent),
        }
        let key = self.children.add(spec, ChildState::Absent);
        let started = self.start(key).await;
        if started.is_err() {
            self.children.remove(key);
        }
        started.map_err(StartChildError::Failed)
    }

    /// Starts a child that has a child spec but no process. Its earlier restarts no longer count.
    pub(crate) async fn restart_child(
        &mut self,
        id: &str,
    ) -> Result<Option<ProcessId>, RestartError> {
        match self.named(id) {
            Some((key, ChildState::Absent)) => {
                self.children.reset_restarts(key);
                self.start(key).await.map_err(RestartError::Failed)
            }
            Some((_, ChildState::Restarting(_))) => Err(RestartError::Restarting),
            Some((_, ChildState::Running(_))) => Err(RestartError::Running),
            None => Err(RestartError::NotFound),
        }
    }

    /// Removes a child without a process from the table.
    pub(crate) fn delete_child(&mut self, id: &str) -> Result<(), DeleteError> {
        match self.named(id) {
            Some((key, ChildState::Absent)) => {
                self.children.remove(key);
                Ok(())
            }
            Some((_, ChildState::Restarting(_))) => Err(DeleteError::Restarting),
            Some((_, ChildState::Running(_))) => Err(DeleteError::Running),
            None => Err(DeleteError::NotFound),
        }
    }

    /// Stops a child; returns `false` if no child has that id. The child spec stays, unless the
    /// child is temporary. The stop does not count for the automatic shutdown.
    pub(crate) async fn terminate_child(&mut self, id: &str) -> bool {
        let Some(key) = self.children.with_id(id) else { return false };
        self.stop(key).await;
        true
    }

    /// Returns the key and the process state of the child with that id.
    pub(super) fn named(&self, id: &str) -> Option<(Key, ChildState)> {
        let key = self.children.with_id(id)?;
        Some((key, self.children.get(key)?.state()))
    }
}

/// Requests to a dynamic supervisor, and requests to any supervisor.
impl<H: Effects> SupervisorCore<H> {
    /// Starts another child. If its start fails or returns `ignore`, no child is added. `unique`
    /// says whether the child is found by its id, which the caller has checked to be free.
    pub(crate) async fn start_dynamic(
        &mut self,
        spec: Spec<H::Start>,
        unique: bool,
    ) -> Result<Option<ProcessId>, ExitReason> {
        let started = self.effects.start(&spec.start).await?;
        if let Some(process) = started {
            let key = self.children.add_with(spec, ChildState::Running(process), unique);
            self.children.started(key, || self.effects.now());
        }
        Ok(started)
    }

    /// Stops a child; returns `false` if the process is not a child and is alive.
    pub(crate) async fn terminate_dynamic(&mut self, process: ProcessId) -> bool {
        let Some(key) = self.children.with_process(process) else {
            return !self.effects.is_alive(process);
        };
        self.stop(key).await;
        true
    }

    /// Returns all children, in start order.
    pub(crate) fn which(&self) -> Vec<ChildInfo> {
        let info = |child: &Child<H::Start>| ChildInfo {
            id: child.spec.id.clone(),
            process: match child.state() {
                ChildState::Running(process) => ChildProcess::Running(process),
                ChildState::Restarting(_) => ChildProcess::Restarting,
                ChildState::Absent => ChildProcess::Absent,
            },
            child_type: child.spec.settings.child_type,
        };
        self.children.iter().map(info).collect()
    }

    /// Returns the numbers of children.
    pub(crate) fn count(&self) -> ChildCounts {
        let mut counts = ChildCounts::default();
        for child in self.children.iter() {
            counts.specs += 1;
            match child.spec.settings.child_type {
                ChildType::Worker => counts.workers += 1,
                ChildType::Supervisor => counts.supervisors += 1,
            }
            if let ChildState::Running(process) = child.state() {
                counts.active += usize::from(self.effects.is_alive(process));
            }
        }
        if self.strategy == Strategy::SimpleOneForOne {
            counts.specs = 1;
        }
        counts
    }
}
