//! Backpressure: what a sender does when a mailbox with a bound is full (B1).
//!
//! A process that has sent past a bound joins the wait list of that mailbox. It exhausts its
//! budget, so that it yields at its next await. While it has an entry in a wait list, its turns
//! only handle signals (`process::body`). So it can be killed, and other wake-ups have no effect.
//! The turn in which its last entry is done polls its function, whichever event woke the process
//! before.

use std::future::poll_fn;
use std::task::{Context, Poll};

use purlin_raw::{Address, Owner, Refused, SendMode, SendOutcome, Waiter, catch_panic};

use crate::node::context::ErlangTypes;
use crate::process::pid::drop_undelivered;
use crate::signals::local_state::LocalState;
use crate::{Pid, SendError};

/// [`Pid::send`] to a mailbox that has a bound.
#[cold]
pub(crate) fn send<M: Send + 'static>(to: &Address<ErlangTypes, M>, message: M) {
    match to.send_bounded(message, SendMode::Send) {
        Ok(SendOutcome::Done) => {}
        Ok(SendOutcome::Past) => suspend(to),
        Err(Refused::Ended(message)) => drop_undelivered(message),
        Err(Refused::Full(message)) => {
            if let Some(edge) = to.bound() {
                edge.reject();
            }
            drop(message);
        }
    }
}

/// Wait-list entries of a suspended process.
#[derive(Default)]
pub(crate) struct Suspended {
    places: Vec<Waiter<ErlangTypes>>,
}

/// Suspends the current process, if there is one, until the mailbox it overfilled has capacity.
fn suspend<M: Send + 'static>(to: &Address<ErlangTypes, M>) {
    let mine = |place: &Waiter<ErlangTypes>| place.waits_for(to) && !place.is_over();
    let waits = |local: &mut LocalState| {
        let rare = local.rare().rare();
        rare.is_system || rare.suspended.as_ref().is_some_and(|it| it.places.iter().any(mine))
    };
    // A process that waits for itself would deadlock.
    if to.is_current() || purlin_raw::current_local::<ErlangTypes, _>(waits) != Some(false) {
        return;
    }
    let place = purlin_raw::current_waker().and_then(|waker| to.join_wait_list(waker));
    if let Some(place) = place {
        purlin_raw::current_local::<ErlangTypes, _>(|local| {
            local.rare().rare().suspended.get_or_insert_default().places.push(place);
        });
        purlin_raw::exhaust_budget();
    }
}

/// Returns whether a suspended process must still wait.
pub(crate) fn is_suspended<M: Send + 'static>(me: &Owner<ErlangTypes, M>) -> bool {
    let over = me.local(|local| {
        let over = |suspended: &mut Suspended| suspended.places.iter().all(Waiter::is_over);
        local.rare().rare().suspended.take_if(over)
    });
    // WHY: dropped here, because the last reference to an ended process drops its reason, which is
    // user code.
    over.is_ok_and(|over| {
        let waits = over.is_none();
        catch_panic(|| drop(over));
        waits
    })
}

impl<M: Send + 'static> Pid<M> {
    /// Waits until the mailbox has capacity, then sends a message (B1).
    ///
    /// A mailbox without a bound always has capacity. Unlike [`send`](Pid::send), this method never
    /// takes the mailbox past its limit, and it works in a process and in a task of any runtime. A
    /// mailbox that drops the oldest message has capacity up to twice its limit.
    ///
    /// ```
    /// # use purlin::{Overflow, Process, SpawnOptions, spawn_opt};
    /// # #[purlin::main] async fn main() {
    /// let options = SpawnOptions::new().bound(10, Overflow::Wait);
    /// let slow = spawn_opt(options, async |mut me: Process<u32>| {
    ///     for n in 0..100 {
    ///         assert_eq!(me.receive().await, n);
    ///         assert!(me.mailbox_len() <= 10);
    ///     }
    /// });
    /// let slow = slow.expect("there is room for a process");
    /// for n in 0..100 {
    ///     slow.send_async(n).await.expect("it lives");
    /// }
    /// # assert_eq!(slow.ended().await, purlin::ExitReason::Normal);
    /// # }
    /// ```
    ///
    /// *Cancellation*: a future that is dropped before it is ready has sent nothing, and drops the
    /// message.
    ///
    /// # Errors
    /// Returns [`SendError`] with the message if the process has ended or ends meanwhile. If a
    /// process sends to its own full mailbox, which would deadlock, returns the error without
    /// waiting.
    ///
    /// COST: as [`Pid::send`]; a wait takes a lock and a waker. Capacity in the mailbox wakes all
    /// waiters.
    pub async fn send_async(&self, message: M) -> Result<(), SendError<M>> {
        let (mut message, mut place) = (Some(message), None);
        poll_fn(move |cx| self.poll_send(&mut message, &mut place, cx)).await
    }

    /// Sends the message if there is capacity; otherwise keeps it and joins the wait list.
    fn poll_send(
        &self,
        message: &mut Option<M>,
        place: &mut Option<Waiter<ErlangTypes>>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<M>>> {
        if !purlin_raw::spend_budget() {
            purlin_raw::poll_again(cx.waker());
            return Poll::Pending;
        }
        while let Some(unsent) = message.take() {
            match self.address().send_bounded(unsent, SendMode::Strict) {
                Ok(_) => break,
                Err(Refused::Full(unsent)) if !self.address().is_current() => {
                    *message = Some(unsent);
                    *place = self.address().join_wait_list(cx.waker().clone());
                    if place.is_some() {
                        return Poll::Pending;
                    }
                }
                Err(refused) => return Poll::Ready(Err(refused.into())),
            }
        }
        Poll::Ready(Ok(()))
    }
}
