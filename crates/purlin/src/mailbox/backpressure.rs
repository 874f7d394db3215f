//! Backpressure: what a sender does when a mailbox with a bound is full (B1).
//!
//! A process that has sent past a bound joins the wait list of that mailbox. It exhausts its
//! budget, so that it yields at its next await. While it has an entry in a wait list, its turns
//! only handle signals (`process::body`). So it can be killed, and other wake-ups have no effect.
//! The turn in which its last entry is done polls its function, whichever event woke the process
//! before.

use purlin_raw::{Address, InTurn, Waiter};

use crate::node::erlang_types::ErlangTypes;
use crate::signals::local_state::LocalState;

/// Suspends the current process, if there is one, until the mailbox it overfilled has capacity.
#[cold]
pub(super) fn suspend<M: Send + 'static>(to: &Address<ErlangTypes, M>) {
    let mine = |waiter: &Waiter<ErlangTypes>| waiter.waits_for(to) && !waiter.is_over();
    let waits = |local: &mut LocalState| {
        let cold = local.extended().cold();
        cold.is_system || cold.suspended.as_ref().is_some_and(|it| it.iter().any(mine))
    };
    // A process that waits for itself would deadlock.
    if to.is_current() || purlin_raw::current_local::<ErlangTypes, _>(waits) != Some(false) {
        return;
    }
    let waiter = purlin_raw::current_waker().and_then(|waker| to.join_wait_list(waker));
    if let Some(waiter) = waiter {
        purlin_raw::current_local::<ErlangTypes, _>(|local| {
            local.extended().cold().suspended.get_or_insert_default().push(waiter);
        });
        purlin_raw::exhaust_budget();
    }
}

/// Returns whether a suspended process must still wait.
pub(crate) fn is_suspended<M: Send + 'static>(me: InTurn<'_, ErlangTypes, M>) -> bool {
    let over = me.local(|local| {
        let over = |suspended: &mut Vec<_>| suspended.iter().all(Waiter::is_over);
        local.extended().cold().suspended.take_if(over)
    });
    over.is_none()
}
