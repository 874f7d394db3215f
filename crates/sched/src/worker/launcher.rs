//! Launcher: starts the threads of a scheduler and counts those that run.

use std::io;
use std::sync::Arc;

use crate::hooks::Hooks;
use crate::shared::Shared;
use crate::sync::thread;
use crate::worker::init::WorkerInit;
use crate::worker::run::work;

/// Launcher of threads.
#[derive(Clone)]
pub(crate) struct Launcher {
    pub(crate) shared: Arc<Shared>,
    pub(crate) hooks: Arc<dyn Hooks>,
    pub(crate) name: String,
}

impl Launcher {
    /// Starts a thread that becomes a worker when `wait` returns its `WorkerInit`.
    pub(crate) fn launch(
        &self,
        name: &str,
        wait: impl FnOnce() -> Option<WorkerInit> + Send + 'static,
    ) -> io::Result<()> {
        let (shared, hooks) = (Arc::clone(&self.shared), Arc::clone(&self.hooks));
        self.spawn_thread(name, move || {
            let Some(init) = wait() else { return };
            let index = init.index;
            let mut own = Some((shared, init));
            hooks.thread(index, &mut || {
                if let Some((shared, init)) = own.take() {
                    work(shared, Arc::clone(&hooks), init);
                }
            });
        })
    }

    /// Starts a thread and counts it until it ends.
    pub(crate) fn spawn_thread(
        &self,
        name: &str,
        run: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        self.shared.lock_threads().running += 1;
        let end = ThreadGuard(Arc::clone(&self.shared));
        // If the thread cannot be started, its closure is dropped, which decrements the count.
        let started =
            thread::Builder::new().name(format!("{}-{name}", self.name)).spawn(move || {
                let _end = end;
                run();
            });
        started.map(drop)
    }
}

/// Decrements the count of threads on drop, also when the thread panics.
struct ThreadGuard(Arc<Shared>);

impl Drop for ThreadGuard {
    fn drop(&mut self) {
        self.0.lock_threads().running -= 1;
        self.0.ended.notify_all();
    }
}
