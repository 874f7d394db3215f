//! Backpressure: what a sender does when a mailbox with a bound is full (B1).
//!
//! A process that has sent past a bound joins the wait list of that mailbox. It exhausts its
//! budget, so that it yields at its next await. While it has an entry in a wait list, its turns
//! only handle signals (`body`). So it can be killed, and other wake-ups have no effect. The turn
//! in which its last entry is done polls its function, whichever event woke the process before.

use std::future::poll_fn;
use std::task::{Context, Poll};

use purlin_raw::{Address, Manner, Owner, Place, Refused, Sent, quietly};

use crate::home::Erlang;
use crate::local::Local;
use crate::pid::nobody_receives;
use crate::{Pid, SendError};

/// [`Pid::send`] to a mailbox that has a bound.
#[cold]
pub(crate) fn send<M: Send + 'static>(to: &Address<Erlang, M>, message: M) {
    match to.send_within(message, Manner::Send) {
        Ok(Sent::Done) => {}
        Ok(Sent::Past) => suspend(to),
        Err(Refused::Ended(message)) => nobody_receives(message),
        Err(Refused::Full(message)) => {
            if let Some(edge) = to.edge() {
                edge.reject();
            }
            drop(message);
        }
    }
}

/// Wait-list entries of a suspended process.
#[derive(Default)]
pub(crate) struct Suspended {
    places: Vec<Place<Erlang>>,
}

/// Suspends the current process, if there is one, until the mailbox it overfilled has capacity.
fn suspend<M: Send + 'static>(to: &Address<Erlang, M>) {
    let mine = |place: &Place<Erlang>| place.is_before(to) && !place.is_over();
    let waits = |local: &mut Local| {
        let rarer = local.rare().rarer();
        rarer.serves || rarer.suspended.as_ref().is_some_and(|it| it.places.iter().any(mine))
    };
    // A process that waits for itself would deadlock.
    if to.is_current() || purlin_raw::current_local::<Erlang, _>(waits) != Some(false) {
        return;
    }
    let place = purlin_raw::current_waker().and_then(|waker| to.line_up(waker));
    if let Some(place) = place {
        purlin_raw::current_local::<Erlang, _>(|local| {
            local.rare().rarer().suspended.get_or_insert_default().places.push(place);
        });
        purlin_raw::exhaust();
    }
}

/// Returns whether a suspended process must still wait.
pub(crate) fn is_suspended<M: Send + 'static>(me: &Owner<Erlang, M>) -> bool {
    let over = me.local(|local| {
        let over = |suspended: &mut Suspended| suspended.places.iter().all(Place::is_over);
        local.rare().rarer().suspended.take_if(over)
    });
    // WHY: dropped here, because the last reference to an ended process drops its reason, which is
    // user code.
    over.is_ok_and(|over| {
        let waits = over.is_none();
        quietly(|| drop(over));
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
    ///     slow.send_wait(n).await.expect("it lives");
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
    pub async fn send_wait(&self, message: M) -> Result<(), SendError<M>> {
        let (mut message, mut place) = (Some(message), None);
        poll_fn(move |cx| self.poll_send(&mut message, &mut place, cx)).await
    }

    /// Sends the message if there is capacity; otherwise keeps it and joins the wait list.
    fn poll_send(
        &self,
        message: &mut Option<M>,
        place: &mut Option<Place<Erlang>>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), SendError<M>>> {
        if !purlin_raw::spend() {
            purlin_raw::poll_again(cx.waker());
            return Poll::Pending;
        }
        while let Some(unsent) = message.take() {
            match self.address().send_within(unsent, Manner::Strict) {
                Ok(_) => break,
                Err(Refused::Full(unsent)) if !self.address().is_current() => {
                    *message = Some(unsent);
                    *place = self.address().line_up(cx.waker().clone());
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
