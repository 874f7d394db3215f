//! Handle to the processes of `global`, and their table of names.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use purlin::{ExitReason, MonitorRef, Pid};
use purlin_term::Term;

use super::mail::{ClientMail, Mail};

/// Registered name of the server.
pub(super) const SERVER: &str = "global_name_server";

/// Handle to the processes of `global`, and their table of names.
#[derive(Debug)]
pub(crate) struct Global {
    pub(super) server: Pid<Mail>,
    pub(super) locker: Pid<ClientMail>,
    pub(super) names: Arc<Names>,
}

/// Global names and their processes.
#[derive(Debug, Default)]
pub(super) struct Names(RwLock<HashMap<Term, Entry>>);

/// A registered name: its process, and the method that resolves conflicts.
#[derive(Debug)]
struct Entry {
    pid: purlin_term::Pid,
    method: Term,
    monitor: MonitorRef,
}

impl Names {
    /// The process with a name, and the method that resolves conflicts over it.
    pub(super) fn find(&self, name: &Term) -> Option<(purlin_term::Pid, Term)> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(name).map(|entry| (entry.pid.clone(), entry.method.clone()))
    }

    pub(super) fn of(&self, pid: &purlin_term::Pid) -> Option<Term> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().find(|(_, entry)| entry.pid == *pid).map(|(name, _)| name.clone())
    }

    /// All names, in the format of the protocol.
    pub(super) fn list(&self) -> Term {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let entry = |(name, entry): (&Term, &Entry)| {
            Term::tuple([name.clone(), Term::from(entry.pid.clone()), entry.method.clone()])
        };
        Term::list(all.iter().map(entry))
    }

    pub(super) fn insert(
        &self,
        name: Term,
        pid: purlin_term::Pid,
        method: Term,
        monitor: MonitorRef,
    ) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(name, Entry { pid, method, monitor });
    }

    /// Removes a name. Returns the monitor of its process.
    pub(super) fn delete(&self, name: &Term) -> Option<MonitorRef> {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        all.remove(name).map(|entry| entry.monitor)
    }
}

impl Global {
    /// Ends the processes when the node leaves.
    pub(crate) fn end(&self) {
        self.server.exit(ExitReason::Kill);
        self.locker.exit(ExitReason::Kill);
    }
}
