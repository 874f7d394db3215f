//! Table of the sharers of a node.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use purlin::remote::LocalProcess;
use purlin::{ExitReason, Node};

/// The sharers of a node, by the names of their scopes.
#[derive(Debug, Default)]
pub(crate) struct Sharers {
    all: Mutex<HashMap<Box<str>, LocalProcess>>,
    /// Set with the first sharer: until then, lookups of a name skip the table.
    some: AtomicBool,
}

impl Sharers {
    fn all(&self) -> MutexGuard<'_, HashMap<Box<str>, LocalProcess>> {
        // No code under the lock panics.
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sharer of a scope.
    pub(crate) fn find(&self, scope: &str) -> Option<LocalProcess> {
        // ORDER: acquire, partner of the release below; messages sent before the release are not for the sharer.
        if !self.some.load(Ordering::Acquire) {
            return None;
        }
        self.all().get(scope).filter(|sharer| !sharer.has_ended()).cloned()
    }

    /// Adds a sharer. Returns `false` if the scope has one already.
    pub(super) fn add(&self, scope: &str, sharer: LocalProcess) -> bool {
        let mut all = self.all();
        let is_new = all.get(scope).is_none_or(LocalProcess::has_ended);
        if is_new {
            all.insert(scope.into(), sharer);
            self.some.store(true, Ordering::Release);
        }
        is_new
    }

    /// Ends all sharers when the node leaves.
    pub(crate) fn end(&self, node: &Node) {
        for (_, sharer) in self.all().drain() {
            node.exit(sharer.id(), ExitReason::Kill);
        }
    }
}
