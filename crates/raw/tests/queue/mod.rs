//! Run queue of the models of whole processes, shared by all threads of a model.

use loom::sync::{Arc, Mutex};
use purlin_raw::{Host, Runnable, TurnOutcome};

/// Run queue that all threads of a model push to and take from.
#[derive(Clone)]
pub(crate) struct Queue(Arc<Mutex<Vec<Runnable>>>);

impl Host for Queue {
    fn schedule_local(&self, runnable: Runnable) -> Result<(), Runnable> {
        Err(runnable)
    }

    fn schedule_remote(&self, runnable: Runnable) {
        self.0.lock().unwrap().push(runnable);
    }
}

impl Queue {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Vec::new())))
    }

    /// Runs queued processes until the queue is empty.
    pub(crate) fn run(&self) {
        loop {
            let next = self.0.lock().unwrap().pop();
            match next.map(Runnable::run) {
                Some(TurnOutcome::Again { runnable, .. }) => self.0.lock().unwrap().push(runnable),
                Some(_) => {}
                None => return,
            }
        }
    }
}
