//! Aliases: revocable addresses of a process (L9).
//!
//! A message to an alias travels as a signal. The receiver checks, when it takes the signal out of
//! its inbox, whether the alias is still valid, and drops the message if it is not.
//!
//! A *priority alias* is how a process allows others to send it priority messages (M6), as in Erlang's
//! EEP 76. The sender says whether a message has priority, the receiver whether the alias allows it.

use std::fmt;

use purlin_raw::Address;

use crate::mailbox::send::drop_undelivered;
use crate::node::erlang_types::ErlangTypes;
use crate::process::process_ref::sender;
use crate::signals::local_state::AliasOptions;
use crate::signals::reference::Reference;
use crate::signals::signal::{Signal, send_signal};
use crate::{ExitReason, Process, ProcessId};

/// Revocable address of a process: Erlang's process alias.
///
/// COST: two words; cloning increments a reference count.
pub struct Alias<M> {
    to: Address<ErlangTypes, M>,
    reference: Reference,
}

impl<M: Send + 'static> Alias<M> {
    /// Sends a message to the process. The message passes any bound of the mailbox (B2).
    ///
    /// The message is dropped and counted if the alias has been removed by the time the process
    /// takes the message out of its inbox, or if the process has ended.
    ///
    /// COST: two blocks of memory, one of them for the message.
    pub fn send(&self, message: M) {
        self.send_as(message, false);
    }

    /// Sends a message with priority: Erlang's `erlang:send(Alias, Message, [priority])`.
    ///
    /// If the alias was made by [`Process::priority_alias`], the message precedes all waiting messages
    /// of the process but earlier priority messages (M6). Otherwise it is an ordinary message. All else
    /// is as for [`Alias::send`].
    pub fn send_priority(&self, message: M) {
        self.send_as(message, true);
    }

    fn send_as(&self, message: M, priority: bool) {
        let message = Box::new(message);
        let signal = Signal::Aliased { alias: self.reference, priority, message };
        if let Err(unread) = self.to.signal(signal) {
            drop_undelivered(unread);
        }
    }

    /// Sends an exit signal to the process, as [`Pid::exit`](crate::Pid::exit) does (L4). The signal is
    /// dropped if the alias has been removed by the time the process handles it. It does not remove an
    /// alias that is valid for one message only.
    pub fn exit(&self, reason: ExitReason) {
        self.exit_as(reason, false);
    }

    /// [`Alias::exit`] with priority: Erlang's `exit(Alias, Reason, [priority])`.
    ///
    /// If the process traps exits, and the alias was made by [`Process::priority_alias`], the
    /// [`Exit`](crate::Exit) is a priority message (M6).
    pub fn exit_priority(&self, reason: ExitReason) {
        self.exit_as(reason, true);
    }

    fn exit_as(&self, reason: ExitReason, priority: bool) {
        let (alias, from) = (self.reference, sender());
        let signal = Signal::AliasExit { alias, priority, from, reason };
        send_signal(&self.to.clone().untyped(), signal);
    }

    /// Returns the alias as a number that identifies it to other nodes, together with
    /// [`Alias::id`].
    pub fn number(&self) -> u64 {
        self.reference.number()
    }

    /// Returns the alias of the process `to` with the given [`Alias::number`].
    pub(crate) fn from_number(to: Address<ErlangTypes, M>, number: u64) -> Self {
        Self { to, reference: Reference::from_number(number) }
    }

    /// Returns the id of the process that owns the alias.
    pub fn id(&self) -> ProcessId {
        ProcessId::new(self.to.shared().creation, self.to.slot())
    }
}

impl<M> Clone for Alias<M> {
    fn clone(&self) -> Self {
        Self { to: self.to.clone(), reference: self.reference }
    }
}

impl<M> PartialEq for Alias<M> {
    fn eq(&self, other: &Self) -> bool {
        self.reference == other.reference
    }
}

impl<M> Eq for Alias<M> {}

impl<M> fmt::Debug for Alias<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Alias({})", self.reference)
    }
}

impl<M: Send + 'static> Process<M> {
    /// Creates an address of this process that [`Process::unalias`] can revoke (L9).
    ///
    /// ```
    /// # use purlin::Process;
    /// #[purlin::main]
    /// async fn main(mut me: Process<&'static str>) {
    ///     let alias = me.alias();
    ///     alias.send("in time");
    ///     assert_eq!(me.receive().await, "in time");
    ///     me.unalias(&alias);
    ///     alias.send("too late");
    ///     assert_eq!(me.try_receive(), None);
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    #[track_caller]
    pub fn alias(&self) -> Alias<M> {
        self.make_alias(AliasOptions { once: false, priority: false })
    }

    /// Creates an alias that allows its holders to send priority messages (M6): Erlang's
    /// `alias([priority])`. [`Alias::send`] sends an ordinary message to it too.
    ///
    /// ```
    /// # use purlin::Process;
    /// #[purlin::main]
    /// async fn main(mut me: Process<&'static str>) {
    ///     let alias = me.priority_alias();
    ///     me.pid().send("one");
    ///     alias.send("two");
    ///     alias.send_priority("first");
    ///     alias.send_priority("second");
    ///     assert_eq!(me.flush(), ["first", "second", "one", "two"]);
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    #[track_caller]
    pub fn priority_alias(&self) -> Alias<M> {
        self.make_alias(AliasOptions { once: false, priority: true })
    }

    /// Creates an alias that the first message revokes when the process takes it out of its inbox.
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    #[track_caller]
    pub fn alias_once(&self) -> Alias<M> {
        self.make_alias(AliasOptions { once: true, priority: false })
    }

    #[track_caller]
    fn make_alias(&self, options: AliasOptions) -> Alias<M> {
        let reference = self.reference();
        self.with_local(|local| local.extended().cold().aliases.insert_new(reference, options));
        Alias { to: self.owner().address(), reference }
    }

    /// Removes an alias. Returns whether it belonged to this process and was still valid.
    ///
    /// A message that is already in the mailbox stays there.
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    #[track_caller]
    pub fn unalias(&self, alias: &Alias<M>) -> bool {
        self.with_local(|local| local.extended().cold().aliases.remove(alias.reference)).is_some()
    }
}
