//! The threads of a scheduler: how one begins, and how they are counted out.

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

/// All that makes a thread a worker.
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

    /// Ends the sleep of the thread that gets this.
    pub(crate) fn waker(&self) -> Waker {
        waker(&self.parker)
    }
}

/// Ends a thread's parking. WHY a waker: a simulation sleeps in other ways than a thread.
struct Unpark(Unparker);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// What ends a thread's parking.
pub(crate) fn waker(parker: &Parker) -> Waker {
    Waker::from(Arc::new(Unpark(parker.unparker().clone())))
}

/// What begins threads.
#[derive(Clone)]
pub(crate) struct Crew {
    pub(crate) shared: Arc<Shared>,
    pub(crate) above: Arc<dyn Above>,
    pub(crate) name: String,
}

impl Crew {
    /// Begins a thread that becomes a worker when `wait` has an assignment for it.
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

    /// Begins a thread that is counted.
    pub(crate) fn begin(&self, name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
        self.shared.thread_begins();
        let end = EndOfThread(Arc::clone(&self.shared));
        // A thread that is not begun drops its closure, and so counts itself out.
        let started =
            thread::Builder::new().name(format!("{}-{name}", self.name)).spawn(move || {
                let _end = end;
                run();
            });
        started.map(drop)
    }
}

/// Counts a thread out, also when it panics.
struct EndOfThread(Arc<Shared>);

impl Drop for EndOfThread {
    fn drop(&mut self) {
        self.0.thread_ended();
    }
}
