//! Launcher: starts the threads of a scheduler and counts those that run.

use std::io;
use std::sync::Arc;
use std::task::{Wake, Waker};

use purlin_raw::Holder;

use crate::above::Above;
use crate::post::Post;
use crate::scheduler::Shared;
use crate::seat::Seat;
use crate::sync::{Parker, Unparker, thread};
use crate::worker::work;

/// Everything a thread needs to become a worker.
pub(crate) struct Assignment {
    pub(crate) index: usize,
    pub(crate) post: Holder<Post>,
    pub(crate) seat: Arc<Seat>,
    pub(crate) parker: Parker,
}

impl Assignment {
    pub(crate) fn new(index: usize, post: Post) -> Self {
        let (post, taker) = purlin_raw::biased(post);
        Self { index, post, seat: Arc::new(Seat::new(taker)), parker: Parker::new() }
    }

    /// Returns the waker that unparks the thread that takes this assignment.
    pub(crate) fn waker(&self) -> Waker {
        waker(&self.parker)
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

/// Returns a waker that unparks the owner of `parker`.
pub(crate) fn waker(parker: &Parker) -> Waker {
    Waker::from(Arc::new(Unpark(parker.unparker().clone())))
}

/// Launcher of threads.
#[derive(Clone)]
pub(crate) struct Crew {
    pub(crate) shared: Arc<Shared>,
    pub(crate) above: Arc<dyn Above>,
    pub(crate) name: String,
}

impl Crew {
    /// Starts a thread that becomes a worker when `wait` returns an assignment.
    pub(crate) fn hire(
        &self,
        name: &str,
        wait: impl FnOnce() -> Option<Assignment> + Send + 'static,
    ) -> io::Result<()> {
        let (shared, above) = (Arc::clone(&self.shared), Arc::clone(&self.above));
        self.begin(name, move || {
            let Some(assignment) = wait() else { return };
            let index = assignment.index;
            let mut own = Some((shared, assignment));
            above.thread(index, &mut || {
                if let Some((shared, assignment)) = own.take() {
                    work(shared, Arc::clone(&above), assignment);
                }
            });
        })
    }

    /// Starts a thread and counts it until it ends.
    pub(crate) fn begin(&self, name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.shared.thread_begins();
        let end = EndOfThread(Arc::clone(&self.shared));
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
struct EndOfThread(Arc<Shared>);

impl Drop for EndOfThread {
    fn drop(&mut self) {
        self.0.thread_ended();
    }
}
