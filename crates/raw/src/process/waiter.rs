//! Entry of a sender in the wait list of a process's mailbox.

use std::task::Waker;

use crate::RuntimeTypes;
use crate::process::address::Ref;

/// Entry in the wait list of a mailbox. Dropping it leaves the list.
#[must_use]
pub struct Waiter<W: RuntimeTypes> {
    to: Ref<W>,
    number: u64,
}

impl<W: RuntimeTypes> Ref<W> {
    /// Joins the wait list of this process's mailbox. Returns `None` if there is no reason to wait:
    /// the mailbox has capacity or no bound, or the process has ended.
    pub fn join_wait_list(&self, waker: Waker) -> Option<Waiter<W>> {
        let bound = self.bound()?;
        let waiter = Waiter { to: self.clone(), number: bound.wait_list.join(waker) };
        (!self.has_capacity() && !self.has_ended()).then_some(waiter)
    }
}

impl<W: RuntimeTypes> Waiter<W> {
    /// Returns whether the wait is over.
    pub fn is_over(&self) -> bool {
        self.to.has_ended()
            || self.to.bound().is_none_or(|bound| bound.wait_list.is_woken(self.number))
    }

    /// Returns whether this waits for the given process's mailbox.
    pub fn waits_for(&self, process: &Ref<W>) -> bool {
        self.to.is_same(process)
    }
}

impl<W: RuntimeTypes> Drop for Waiter<W> {
    fn drop(&mut self) {
        if let Some(bound) = self.to.bound().filter(|bound| !bound.wait_list.is_woken(self.number))
        {
            bound.wait_list.leave(self.number);
        }
    }
}
