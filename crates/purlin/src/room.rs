//! Room in mailboxes that have a bound (B1): what a sender does about one that is full.
//!
//! A process that has sent past a bound keeps a place in the line before that mailbox. It uses up
//! its budget, so that it yields where it next awaits, and while one of its places lasts its turns
//! only act on signals (`body`). So it can be killed, and what else wakes it changes nothing; the
//! turn in which the last place is over polls its function, whatever woke it before.

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

/// Where a process waits for room.
#[derive(Default)]
pub(crate) struct Suspended {
    places: Vec<Place<Erlang>>,
}

/// Suspends the process that has sent past a bound, if one has, until there is room.
fn suspend<M: Send + 'static>(to: &Address<Erlang, M>) {
    let mine = |place: &Place<Erlang>| place.is_before(to) && !place.is_over();
    let waits = |local: &mut Local| {
        let rarer = local.rare().rarer();
        rarer.serves || rarer.suspended.as_ref().is_some_and(|it| it.places.iter().any(mine))
    };
    // A process that waited for itself would wait for ever.
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

/// Whether a process that was suspended still has to wait.
pub(crate) fn is_suspended<M: Send + 'static>(me: &Owner<Erlang, M>) -> bool {
    let over = me.local(|local| {
        let over = |suspended: &mut Suspended| suspended.places.iter().all(Place::is_over);
        local.rare().rarer().suspended.take_if(over)
    });
    // WHY out here: the last reference to an ended process drops its reason, which is the user's.
    over.is_ok_and(|over| {
        let waits = over.is_none();
        quietly(|| drop(over));
        waits
    })
}

impl<M: Send + 'static> Pid<M> {
    /// Sends a message when the mailbox has room for it, and waits until then (B1).
    ///
    /// Where there is no bound there is always room. Unlike after a [`send`](Pid::send) the mailbox
    /// is never past its limit because of this, and who waits may be a process or a task of any
    /// runtime. Where the oldest is dropped there is room up to twice the limit.
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
    /// The message, if the process has ended or ends meanwhile; and at once, if a process waits for
    /// room in its own mailbox, which it would do for ever.
    ///
    /// COST: as [`Pid::send`]; if it has to wait a lock and a waker. Whenever there is room all who
    /// wait are woken.
    pub async fn send_wait(&self, message: M) -> Result<(), SendError<M>> {
        let (mut message, mut place) = (Some(message), None);
        poll_fn(move |cx| self.poll_send(&mut message, &mut place, cx)).await
    }

    /// Sends the message if there is room, else leaves it and takes a place in the line.
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
