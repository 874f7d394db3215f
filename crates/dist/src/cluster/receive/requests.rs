//! Requests of a peer that run a function here: admission by the capacity for their answers.
//!
//! A request (`rex`, `spawn`) starts immediately while the link has room for answers. Otherwise it is held until the
//! peer has read earlier answers. While the held requests take much memory, nothing more is received from the peer. So
//! a peer that sends requests and does not read makes this node neither compute nor store further answers.
//!
//! At most [`MAX_TURNS`] functions of a connection run at a time until they first wait. The others have waited; they
//! may run for long, and their number is not limited.

use std::collections::VecDeque;
use std::fmt;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use purlin_dist_protocol::link::Link;
use tokio::runtime::Handle;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

use crate::cluster::connection::Connection;

/// Maximum number of functions that run until they first wait.
const MAX_TURNS: usize = 64;

/// Memory of held requests beyond which nothing is received, in bytes as [`memory`] estimates it.
const MAX_HELD: usize = 64 << 20;

/// Permit of a function to run until it first waits. Dropped when its answer is queued, if it never waits.
pub(crate) type Turn = OwnedSemaphorePermit;

/// Starts a request.
pub(crate) type Start = Box<dyn FnOnce(Turn) + Send>;

/// Requests of one connection.
pub(in crate::cluster) struct Requests {
    turns: Arc<Semaphore>,
    held: Mutex<Held>,
    /// Notified when a held request starts.
    started: Notify,
}

#[derive(Default)]
struct Held {
    queue: VecDeque<(usize, Start)>,
    /// Memory of all of them.
    memory: usize,
    /// A task starts them.
    is_served: bool,
    /// The connection has ended. INVARIANT: the queue is empty then. WHY: its requests refer to the connection.
    is_closed: bool,
}

impl Default for Requests {
    fn default() -> Self {
        let (held, started) = Default::default();
        Self { turns: Arc::new(Semaphore::new(MAX_TURNS)), held, started }
    }
}

impl fmt::Debug for Requests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Requests").field("held", &self.held().queue.len()).finish_non_exhaustive()
    }
}

impl Requests {
    fn held(&self) -> MutexGuard<'_, Held> {
        // No code under the lock panics.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes the oldest held request. Returns `None` if no request is held; the calling task then ends.
    fn next(&self) -> Option<Start> {
        let mut held = self.held();
        let next = held.queue.pop_front();
        held.memory -= next.as_ref().map_or(0, |(memory, _)| *memory);
        held.is_served = next.is_some();
        drop(held);
        self.started.notify_waiters();
        next.map(|(_, start)| start)
    }

    /// Waits until the held requests take little memory.
    async fn wait_for_memory(&self) {
        loop {
            let mut started = pin!(self.started.notified());
            started.as_mut().enable();
            if self.held().memory <= MAX_HELD {
                return;
            }
            started.await;
        }
    }

    /// Drops the held requests of a connection that has ended.
    fn close(&self) {
        let mut held = self.held();
        let queue = std::mem::take(&mut held.queue);
        (held.memory, held.is_closed) = (0, true);
        drop(held);
        drop(queue);
        self.started.notify_waiters();
    }
}

impl Connection {
    /// Starts a request with a payload of `size` bytes, now or later. Waits while held requests take too much memory.
    pub(in crate::cluster) async fn request(
        self: &Arc<Self>,
        runtime: &Handle,
        size: usize,
        start: Start,
    ) {
        match self.hold_if_busy(runtime, size, start) {
            Some((start, turn)) => start(turn),
            None => self.requests.wait_for_memory().await,
        }
    }

    /// Returns the request and its turn, if it may start now. Drops it if the connection has ended.
    fn hold_if_busy(
        self: &Arc<Self>,
        runtime: &Handle,
        size: usize,
        start: Start,
    ) -> Option<(Start, Turn)> {
        let requests = &self.requests;
        let mut held = requests.held();
        if !held.is_served
            && self.link().is_some_and(Link::has_room_for_answers)
            && let Ok(turn) = Arc::clone(&requests.turns).try_acquire_owned()
        {
            return Some((start, turn));
        }
        if held.is_closed {
            return None;
        }
        let memory = memory(size);
        held.memory += memory;
        held.queue.push_back((memory, start));
        if !std::mem::replace(&mut held.is_served, true) {
            runtime.spawn(serve(Arc::clone(self)));
        }
        None
    }
}

/// Estimated memory of a request with a payload of this length: a term takes at most 32 bytes for each byte of its
/// encoding.
fn memory(size: usize) -> usize {
    1024 + 32 * size
}

/// Starts held requests while the peer reads.
async fn serve(connection: Arc<Connection>) {
    let requests = &connection.requests;
    loop {
        let Ok(turn) = Arc::clone(&requests.turns).acquire_owned().await else { return };
        let is_up = match connection.link() {
            Some(link) => link.wait_for_room_for_answers().await,
            None => false,
        };
        if !is_up {
            return requests.close();
        }
        let Some(start) = requests.next() else { return };
        start(turn);
    }
}

/// Runs a function. Returns its turn with its result if it has not waited.
pub(crate) async fn in_turn<F: Future>(turn: Turn, function: F) -> (F::Output, Option<Turn>) {
    let (mut function, mut turn) = (pin!(function), Some(turn));
    let output = std::future::poll_fn(|cx| {
        let polled = function.as_mut().poll(cx);
        if polled.is_pending() {
            turn = None;
        }
        polled
    });
    let output = output.await;
    (output, turn)
}
