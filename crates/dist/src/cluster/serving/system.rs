//! Functions for `sys`, by message type of the process.

use std::any::TypeId;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, PoisonError, RwLock};

use purlin::ExitReason;
use purlin::remote::LocalProcess;
use purlin_term::Term;

/// The state of a process, as returned by the process itself; `None` if it ends, panics, or takes too long.
pub(super) type State = Pin<Box<dyn Future<Output = Option<Term>> + Send>>;

/// Functions for `sys` of processes of one type.
pub(crate) trait System: Send + Sync {
    /// Name of the OTP behaviour.
    fn behaviour(&self) -> &'static str;

    /// Returns the state.
    fn state(&self, process: LocalProcess) -> State;

    /// Requests an orderly stop.
    fn stop(&self, process: LocalProcess, reason: ExitReason);
}

/// Functions for `sys`, by message type of the process.
#[derive(Default)]
pub(crate) struct Systems(RwLock<HashMap<TypeId, Arc<dyn System>>>);

impl Systems {
    pub(crate) fn insert(&self, message: TypeId, system: Arc<dyn System>) {
        let mut all = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let replaced = all.insert(message, system);
        // WHY before it is dropped: what its functions have captured may use the cluster.
        drop(all);
        drop(replaced);
    }

    /// The functions for a process whose type is registered.
    pub(crate) fn of(&self, process: &LocalProcess) -> Option<Arc<dyn System>> {
        let all = self.0.read().unwrap_or_else(PoisonError::into_inner);
        all.get(&process.message_type()).cloned()
    }
}
