//! Dropping of messages by the senders of a full mailbox.
//!
//! The destructor of a message may send to a full mailbox, and so cause another message to be
//! dropped, whose destructor may do the same. [`MAX_DEPTH`] of them may nest. What the innermost
//! destructor causes to be dropped is queued on the thread and dropped after it has returned: deeper
//! nesting could overflow the stack.
//!
//! COST: two accesses to a thread-local per message.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::ptr::NonNull;

use crate::inbox::header::Header;
use crate::sync::thread_local;

/// Maximum number of nested destructors.
const MAX_DEPTH: u32 = 8;

/// Drops a message of the type for which the function was made. Does not unwind.
pub(crate) type Discard = unsafe fn(NonNull<Header>);

/// Drops under way on a thread.
struct Drops {
    /// Number of nested drops.
    depth: u32,
    /// Messages to be dropped by the innermost one.
    waiting: VecDeque<(Discard, NonNull<Header>)>,
}

thread_local! {
    static DROPS: RefCell<Drops> = const { RefCell::new(Drops { depth: 0, waiting: VecDeque::new() }) };
}

/// Drops a message, and then those that are queued. Queues the message if the maximum number of drops
/// is under way on this thread.
///
/// # Safety
/// The caller owns the envelope, which holds a message of the function's type.
pub(crate) unsafe fn discard(discard: Discard, message: NonNull<Header>) {
    let mut next = Some((discard, message));
    // WHY `try_with`, here and below: the destructor of another thread-local may send after this one
    // is destroyed; the message is then dropped immediately.
    let _ = DROPS.try_with(|drops| {
        let mut drops = drops.borrow_mut();
        if drops.depth == MAX_DEPTH {
            drops.waiting.extend(next.take());
        } else {
            drops.depth += 1;
        }
    });
    while let Some((discard, message)) = next {
        // SAFETY: by the contract of the call that has passed the message.
        unsafe { discard(message) };
        next = DROPS.try_with(|drops| drops.borrow_mut().next_or_leave()).unwrap_or(None);
    }
}

impl Drops {
    /// Takes the next message. Without one, ends the drop.
    fn next_or_leave(&mut self) -> Option<(Discard, NonNull<Header>)> {
        let next = self.waiting.pop_front();
        if next.is_none() {
            self.depth -= 1;
        }
        next
    }
}
