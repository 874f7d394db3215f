//! Reply to a remote caller, passed to a function of the transport.

use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use purlin_raw::{ReplyReceiver, ReplySender, oneshot};

use crate::Reply;

/// Returns a [`Reply`] with which a process of this node answers a remote caller. `take` is called once, with the
/// answer, or with `None` if the `Reply` is dropped unused.
///
/// `take` runs within [`Reply::send`] or the drop, on that thread, so an answer needs no task. It must not block. Its
/// panics are caught; only the panic hook reports them.
///
/// COST: two allocations in addition to those of a local call.
pub fn reply<T: Send + 'static>(take: impl FnOnce(Option<T>) + Send + 'static) -> Reply<T> {
    Reply::new(sender(take))
}

/// Returns the sender of an answer that is passed to `take`; see [`reply`].
pub(super) fn sender<T: Send + 'static>(
    take: impl FnOnce(Option<T>) + Send + 'static,
) -> ReplySender<T> {
    let waits = Arc::new(Waits(Mutex::new(None)));
    let (to, mut answer) = oneshot();
    // No reply can be there yet: the poll sets the waker.
    let poll = answer.poll(&Context::from_waker(&Waker::from(Arc::clone(&waits))));
    debug_assert!(poll.is_pending());
    *waits.0.lock().unwrap_or_else(PoisonError::into_inner) = Some((answer, take));
    to
}

/// The waiting end of a call, until the answer is there. It is its own waker, which the replier owns and calls.
struct Waits<T, F>(Mutex<Option<(ReplyReceiver<T>, F)>>);

impl<T: Send + 'static, F: FnOnce(Option<T>) + Send + 'static> Wake for Waits<T, F> {
    fn wake(self: Arc<Self>) {
        let waits = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some((mut answer, take)) = waits else { return };
        if let Poll::Ready(answer) = answer.poll(&Context::from_waker(Waker::noop())) {
            take(answer);
        }
    }
}
