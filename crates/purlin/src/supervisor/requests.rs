//! What others ask of a supervisor, and what they get: OTP's rules again.
//!
//! Called by the supervisor's process alone, between the ends of children.

use std::sync::Arc;

use super::ChildType;
use super::children::{Child, Place, Spec};
use super::error::{DeleteError, RestartError, StartChildError};
use super::hands::Hands;
use super::keeper::Keeper;
use super::strategy::{Key, Strategy};
use crate::{ExitReason, ProcessId};

/// How many children there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildCounts {
    /// Specifications, whether their child runs or not; one for a simple one for one supervisor.
    pub specs: usize,
    /// Children that run.
    pub active: usize,
    /// Supervisors among the children, running or not.
    pub supervisors: usize,
    /// Other children, running or not.
    pub workers: usize,
}

/// A child, as its supervisor sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildInfo {
    /// Its id; that of the template where children have none of their own.
    pub id: Arc<str>,
    /// Its process, if it has one.
    pub process: ChildProcess,
    /// What it is.
    pub child_type: ChildType,
}

/// Where a child's process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildProcess {
    /// It was started, and its end has not been noticed.
    Running(ProcessId),
    /// It could not be restarted and will be tried again.
    Restarting,
    /// There is none: Erlang's `undefined`.
    Absent,
}

/// What others ask of a supervisor whose children have ids.
impl<H: Hands> Keeper<H> {
    /// Adds a child behind the others and starts it. One that cannot be started is not kept.
    pub(crate) async fn start_child(
        &mut self,
        spec: Spec<H::Start>,
    ) -> Result<Option<ProcessId>, StartChildError> {
        match self.named(&spec.id) {
            None => {}
            Some((_, Place::Running(process))) => {
                return Err(StartChildError::AlreadyStarted(process));
            }
            Some(_) => return Err(StartChildError::AlreadyPresent),
        }
        let key = self.children.add(spec, Place::Absent);
        let started = self.start(key).await;
        if started.is_err() {
            self.children.remove(key);
        }
        started.map_err(StartChildError::Failed)
    }

    /// Starts a child that is there but has no process.
    pub(crate) async fn restart_child(
        &mut self,
        id: &str,
    ) -> Result<Option<ProcessId>, RestartError> {
        match self.named(id) {
            Some((key, Place::Absent)) => self.start(key).await.map_err(RestartError::Failed),
            Some((_, Place::Restarting(_))) => Err(RestartError::Restarting),
            Some((_, Place::Running(_))) => Err(RestartError::Running),
            None => Err(RestartError::NotFound),
        }
    }

    /// Takes a child without a process out of the table.
    pub(crate) fn delete_child(&mut self, id: &str) -> Result<(), DeleteError> {
        match self.named(id) {
            Some((key, Place::Absent)) => {
                self.children.remove(key);
                Ok(())
            }
            Some((_, Place::Restarting(_))) => Err(DeleteError::Restarting),
            Some((_, Place::Running(_))) => Err(DeleteError::Running),
            None => Err(DeleteError::NotFound),
        }
    }

    /// Stops a child; `false` if there is none of that id. It is kept unless it is temporary, and
    /// does not count for the shutdown by itself.
    pub(crate) async fn terminate_child(&mut self, id: &str) -> bool {
        let Some(key) = self.children.with_id(id) else { return false };
        self.stop(key).await;
        true
    }

    /// The child of that id, and where it is.
    fn named(&self, id: &str) -> Option<(Key, Place)> {
        let key = self.children.with_id(id)?;
        Some((key, self.children.get(key)?.place()))
    }
}

/// What others ask of a simple one for one supervisor, and of any.
impl<H: Hands> Keeper<H> {
    /// Starts one child more. One that cannot be started, or need not be, is not kept.
    pub(crate) async fn start_dynamic(
        &mut self,
        spec: Spec<H::Start>,
    ) -> Result<Option<ProcessId>, ExitReason> {
        let started = self.hands.start(&spec.start).await?;
        if let Some(process) = started {
            self.children.add(spec, Place::Running(process));
        }
        Ok(started)
    }

    /// Stops a child; `false` if there is none that is that process, and the process lives.
    pub(crate) async fn terminate_dynamic(&mut self, process: ProcessId) -> bool {
        let Some(key) = self.children.with_process(process) else {
            return !self.hands.is_alive(process);
        };
        self.stop(key).await;
        true
    }

    /// All children, in the order of their start.
    pub(crate) fn which(&self) -> Vec<ChildInfo> {
        let info = |child: &Child<H::Start>| ChildInfo {
            id: child.spec.id.clone(),
            process: match child.place() {
                Place::Running(process) => ChildProcess::Running(process),
                Place::Restarting(_) => ChildProcess::Restarting,
                Place::Absent => ChildProcess::Absent,
            },
            child_type: child.spec.settings.child_type,
        };
        self.children.iter().map(info).collect()
    }

    /// How many children there are.
    pub(crate) fn count(&self) -> ChildCounts {
        let mut counts = ChildCounts::default();
        for child in self.children.iter() {
            counts.specs += 1;
            match child.spec.settings.child_type {
                ChildType::Worker => counts.workers += 1,
                ChildType::Supervisor => counts.supervisors += 1,
            }
            if let Place::Running(process) = child.place() {
                counts.active += usize::from(self.hands.is_alive(process));
            }
        }
        if self.strategy == Strategy::SimpleOneForOne {
            counts.specs = 1;
        }
        counts
    }
}
