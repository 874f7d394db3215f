//! Waits of a suspended process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

use purlin_raw::Waiter;

use crate::node::erlang_types::ErlangTypes;

/// What a suspended process waits for.
pub(crate) enum Wait {
    /// Capacity in a mailbox.
    Mailbox(Waiter<ErlangTypes>),
    /// The end of a [`Suspension`], which sets this.
    Suspension(Arc<AtomicBool>),
}

impl Wait {
    pub(crate) fn is_over(&self) -> bool {
        match self {
            Self::Mailbox(waiter) => waiter.is_over(),
            // ORDER: relaxed: the wake-up after the store orders the two.
            Self::Suspension(over) => over.load(Ordering::Relaxed),
        }
    }
}

/// Suspension of a process; see [`suspend_current`](crate::remote::suspend_current).
#[must_use = "the process continues when this is dropped"]
#[derive(Debug)]
pub struct Suspension {
    over: Arc<AtomicBool>,
    process: Waker,
}

impl Suspension {
    pub(crate) fn new(over: Arc<AtomicBool>, process: Waker) -> Self {
        Self { over, process }
    }
}

impl Drop for Suspension {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.process.wake_by_ref();
    }
}
