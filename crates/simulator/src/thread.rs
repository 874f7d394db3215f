//! Simulated threads, each on a core of its own, with the functions of `std::thread`.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crate::costs::time;
use crate::local;
use crate::run::{self, Code};

/// Result of a thread: `Err` is never returned, since a panic ends the simulation.
pub type Result<T> = std::thread::Result<T>;

/// Builder of a thread.
#[derive(Debug, Default)]
pub struct Builder {
    core: Option<usize>,
}

/// Handle that waits for the end of a thread.
#[derive(Debug)]
pub struct JoinHandle<T> {
    thread: usize,
    value: Arc<Mutex<Option<T>>>,
}

impl Builder {
    /// Creates a builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Accepts a name and ignores it.
    #[must_use]
    pub fn name(self, _: String) -> Self {
        self
    }

    /// Chooses the core. Without this call the thread gets the first core that has no thread.
    #[must_use]
    pub fn core(self, core: usize) -> Self {
        Self { core: Some(core) }
    }

    /// Starts a thread.
    ///
    /// # Errors
    /// None; the result is that of `std`.
    ///
    /// # Panics
    /// Outside of a simulation, or if no core is free.
    pub fn spawn<T: Send + 'static>(
        self,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<JoinHandle<T>> {
        let value = Arc::new(Mutex::new(None));
        let returned = Arc::clone(&value);
        let code: Code = Box::new(move || {
            *returned.lock().unwrap_or_else(PoisonError::into_inner) = Some(f());
        });
        let thread = run::with(|run| run.add(self.core, code));
        Ok(JoinHandle { thread: thread.expect("threads start inside of a simulation"), value })
    }
}

/// Starts a thread on the first core that has no thread.
pub fn spawn<T: Send + 'static>(f: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    Builder::new().spawn(f).expect("a simulated thread starts")
}

/// Runs the code of a thread and ends it.
pub(crate) fn run(code: Code) {
    code();
    local::drop_all();
    // No other thread runs between these two.
    run::wake(address(run::thread_number() as usize), usize::MAX);
    run::with(run::Run::end);
}

/// Returns an address at which threads wait for the end of a thread.
fn address(thread: usize) -> usize {
    // WHY: below the addresses of all objects.
    thread + 1
}

impl<T> JoinHandle<T> {
    /// Waits for the end of the thread.
    ///
    /// # Errors
    /// None; the result is that of `std`.
    pub fn join(self) -> Result<T> {
        while run::with(|run| run.has_ended(self.thread)) == Some(false) {
            run::sleep(address(self.thread), None);
        }
        run::with(|run| run.continue_after(self.thread));
        let value = self.value.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(value.expect("an ended thread has left its value"))
    }
}

/// Pauses the core for the time of one `pause` instruction: no other thread waits for it.
pub fn yield_now() {
    run::pause();
}

/// Sleeps.
pub fn sleep(duration: Duration) {
    let deadline = run::read_clock() + time(duration.as_nanos() as f64);
    // No thread wakes a sleeper at this address.
    run::sleep(0, Some(deadline));
}
