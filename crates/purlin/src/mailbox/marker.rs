//! Receive markers: references whose messages are found without examining older ones (R8).
//!
//! [`Process::make_ref`] places a marker at the end of the mailbox. The arms of
//! `receive!(me, tag == reference, …)` match only messages that hold the reference, and these are
//! sent after it was made; so the scan begins at the marker, and without one at the oldest message,
//! with the same result.

use crate::process::process_ref::ToProcess;
use crate::signals::conversion::ReceivesDown;
use crate::signals::handle_signal::handle_signal;
use crate::{MonitorRef, Process, Reference};

impl<M: Send + 'static> Process<M> {
    /// Creates a reference: Erlang's `make_ref/0`. Waiting for a message that holds it, by
    /// `receive!(me, tag == reference, …)`, does not examine the messages that have arrived before
    /// (R8).
    ///
    /// ```
    /// use std::time::Duration;
    /// use purlin::{Pid, Process, Reference, receive, spawn};
    ///
    /// enum Msg { Price(u32), Total(Reference, u32) }
    ///
    /// #[purlin::main]
    /// async fn main(mut me: Process<Msg>) {
    ///     (0..1000).for_each(|price| me.pid().send(Msg::Price(price)));
    ///     let bank = spawn(async |mut me: Process<(Reference, Pid<Msg>)>| {
    ///         let (tag, asker) = me.receive().await;
    ///         asker.send(Msg::Total(tag, 42));
    ///     });
    ///
    ///     let order = me.make_ref();
    ///     bank.send((order, me.pid()));
    ///     let total = receive!(me, tag == order, {
    ///         Msg::Total(tag, total) => Some(total),
    ///         after Duration::from_secs(5) => None,
    ///     });
    ///     assert_eq!(total, Some(42));
    ///     assert_eq!(me.mailbox_len(), 1000);
    /// }
    /// ```
    ///
    /// A [call](crate::Pid::call) needs no reference, and reports the end of the process that is
    /// called. To be informed of it here, use [`Process::monitor_marked`] and send its reference.
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    ///
    /// COST: takes what has arrived out of the inbox, as a receive does. A reference that is made
    /// while the mailbox is empty costs nothing else. The first other one allocates 168 bytes. The
    /// markers of the latest eight are kept; waiting for an older one begins at the oldest message.
    #[track_caller]
    pub fn make_ref(&self) -> Reference {
        let reference = self.reference();
        self.in_turn(|me| {
            let mailbox = me.mailbox();
            if mailbox.has_arrivals() {
                mailbox.fetch(false, move |signal| handle_signal(me, signal));
            }
            mailbox.place_marker(reference.number());
        });
        reference
    }

    /// [`Process::monitor`], with a reference as of [`Process::make_ref`]: one receive waits for a
    /// reply that holds it and for the `Down`, and examines no message that has arrived before
    /// (R8).
    ///
    /// ```
    /// use purlin::{Down, Message, MonitorRef, Pid, Process, receive, spawn};
    ///
    /// #[derive(Message)]
    /// enum Msg {
    ///     Total(MonitorRef, u32),
    ///     #[from]
    ///     Down(Down),
    /// }
    ///
    /// #[purlin::main]
    /// async fn main(mut me: Process<Msg>) {
    ///     let bank = spawn(async |mut me: Process<(MonitorRef, Pid<Msg>)>| {
    ///         let (order, asker) = me.receive().await;
    ///         asker.send(Msg::Total(order, 42));
    ///     });
    ///     let order = me.monitor_marked(&bank);
    ///     bank.send((order, me.pid()));
    ///     let total = receive!(me, tag == order, {
    ///         Msg::Total(tag, total) => Ok(total),
    ///         Msg::Down(Down { monitor: tag, reason, .. }) => Err(reason),
    ///     });
    ///     me.demonitor_flush(order);
    ///     assert_eq!(total, Ok(42));
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    ///
    /// COST: as [`Process::monitor`] and [`Process::make_ref`].
    #[track_caller]
    pub fn monitor_marked(&self, process: impl ToProcess) -> MonitorRef
    where
        M: ReceivesDown,
    {
        self.monitor_with(self.make_ref(), process)
    }
}

/// Reference by which `receive!(me, tag == reference, …)` finds messages.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reference by which `receive!` can find a message",
    label = "neither a `Reference` nor a `MonitorRef`",
    note = "in `receive!(me, tag == reference, …)` the pattern of each arm binds `tag`"
)]
pub trait Tag {
    /// Returns the reference.
    fn reference(&self) -> Reference;
}

impl Tag for Reference {
    #[inline]
    fn reference(&self) -> Reference {
        *self
    }
}

impl Tag for MonitorRef {
    #[inline]
    fn reference(&self) -> Reference {
        self.0
    }
}

/// Value of the name before `==` where the pattern of an arm does not bind it.
#[doc(hidden)]
#[derive(Debug)]
pub struct UnboundTag;
