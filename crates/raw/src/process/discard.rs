//! Dropping of messages by the senders of a full mailbox, one after the other.
//!
//! The destructor of a message may send to a full mailbox, and so cause another message to be
//! dropped. That one is queued on the thread and dropped after the first: nested destructors could
//! overflow the stack.
//!
//! COST: one access to a thread-local per message.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ptr::NonNull;

use crate::catch_panic::catch_panic;
use crate::inbox::header::Header;
use crate::sync::thread_local;

/// Drops a message of the type for which the function was made.
pub(crate) type Discard = unsafe fn(NonNull<Header>);

/// Messages that wait while one is dropped on this thread; `None` while none is.
type Waiting = Option<VecDeque<(Discard, NonNull<Header>)>>;

thread_local! {
    static WAITING: RefCell<Waiting> = const { RefCell::new(None) };
}

/// Drops a message, and then those that its destructor has caused to be dropped. Queues the message
/// if another one is being dropped on this thread. Catches panics.
///
/// # Safety
/// The caller owns the envelope, which holds a message of the function's type.
pub(crate) unsafe fn discard(discard: Discard, message: NonNull<Header>) {
    let mut next = Some((discard, message));
    // WHY `try_with`: the destructor of another thread-local may send after this one is destroyed;
    // the message is then dropped immediately.
    let _ = WAITING.try_with(|waiting| match &mut *waiting.borrow_mut() {
        Some(queue) => queue.extend(next.take()),
        none => *none = Some(VecDeque::new()),
    });
    while let Some((discard, message)) = next {
        // SAFETY: by the contract of the call that has passed the message.
        catch_panic(|| unsafe { discard(message) });
        next = WAITING.try_with(|waiting| take_next(&mut waiting.borrow_mut())).unwrap_or(None);
    }
}

/// Takes the next message. Without one, ends the wait.
fn take_next(waiting: &mut Waiting) -> Option<(Discard, NonNull<Header>)> {
    let next = waiting.as_mut()?.pop_front();
    if next.is_none() {
        *waiting = None;
    }
    next
}
