//! Everything a thread needs to become a worker.

use std::sync::Arc;
use std::task::{Wake, Waker};

use purlin_raw::Revocable;

use crate::sync::{Parker, Unparker};
use crate::worker::core::Core;
use crate::worker::status::WorkerStatus;

/// Core, status and parker of a worker whose thread has not started.
pub(crate) struct WorkerInit {
    pub(crate) index: usize,
    pub(crate) core: Revocable<Core>,
    pub(crate) status: Arc<WorkerStatus>,
    pub(crate) parker: Parker,
}

impl WorkerInit {
    pub(crate) fn new(index: usize, core: Core) -> Self {
        let (core, revoker) = purlin_raw::revocable(core);
        Self { index, core, status: Arc::new(WorkerStatus::new(revoker)), parker: Parker::new() }
    }

    /// Returns the waker that unparks the thread that becomes this worker.
    pub(crate) fn waker(&self) -> Waker {
        Waker::from(Arc::new(Unpark(self.parker.unparker().clone())))
    }
}

/// Unparks a thread. WHY a waker: a simulation does not sleep by parking a thread.
struct Unpark(Unparker);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}
