//! Backpressure: what a sender does when a mailbox with a bound, or a connection, is full (B1).
//!
//! A process that has sent past a bound joins the wait list of that mailbox, or is suspended by a
//! transport ([`Suspension`]). It exhausts its budget, so that it yields at its next await. While a
//! wait is not over, its turns only handle signals (`process::body`). So it can be killed, and other
//! wake-ups have no effect. The turn in which its last wait is over polls its function, whichever
//! event woke the process before.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::task::Waker;

use purlin_raw::{Address, InTurn};

use crate::mailbox::suspension::{Suspension, Wait};
use crate::node::erlang_types::ErlangTypes;
use crate::signals::local_state::LocalState;

/// Suspends the current process from its next await until the result is dropped, as sending to a full
/// mailbox does (B1): Erlang's busy distribution port. The process can be killed meanwhile.
///
/// Returns `None` in a system process, outside of processes, and if the process is already suspended
/// by this function.
pub fn suspend_current() -> Option<Suspension> {
    let is_suspension = |wait: &Wait| matches!(wait, Wait::Suspension(_)) && !wait.is_over();
    let process = may_suspend(is_suspension)?;
    let over = Arc::new(AtomicBool::new(false));
    wait_for(Wait::Suspension(Arc::clone(&over)));
    Some(Suspension::new(over, process))
}

/// Suspends the current process, if there is one, until the mailbox it overfilled has capacity.
#[cold]
pub(super) fn suspend<M: Send + 'static>(to: &Address<ErlangTypes, M>) {
    let is_mine = |wait: &Wait| match wait {
        Wait::Mailbox(waiter) => waiter.waits_for(to) && !waiter.is_over(),
        Wait::Suspension(_) => false,
    };
    // A process that waits for itself would deadlock.
    if to.is_current() {
        return;
    }
    if let Some(waiter) = may_suspend(is_mine).and_then(|waker| to.join_wait_list(waker)) {
        wait_for(Wait::Mailbox(waiter));
    }
}

/// Returns the waker of the current process, unless it is a system process or has such a wait.
fn may_suspend(has: impl Fn(&Wait) -> bool) -> Option<Waker> {
    let cannot = |local: &mut LocalState| {
        let cold = local.extended().cold();
        cold.is_system || cold.suspended.as_ref().is_some_and(|waits| waits.iter().any(has))
    };
    let cannot = purlin_raw::current_local::<ErlangTypes, _>(cannot)?;
    if cannot { None } else { purlin_raw::current_waker() }
}

/// Suspends the current process until the wait is over.
fn wait_for(wait: Wait) {
    purlin_raw::current_local::<ErlangTypes, _>(|local| {
        local.extended().cold().suspended.get_or_insert_default().push(wait);
    });
    purlin_raw::exhaust_budget();
}

/// Returns whether a suspended process must still wait.
pub(crate) fn is_suspended<M: Send + 'static>(me: InTurn<'_, ErlangTypes, M>) -> bool {
    let over = me.local(|local| {
        let over = |suspended: &mut Vec<_>| suspended.iter().all(Wait::is_over);
        local.extended().cold().suspended.take_if(over)
    });
    over.is_none()
}
