//! Aliases: addresses of a process that can be taken back (L9).
//!
//! A message for an alias travels as a signal, so that the receiver decides when it takes it out
//! whether the alias is still good; what is not goes no further.

use std::fmt;

use purlin_raw::Address;

use crate::home::Erlang;
use crate::pid::nobody_receives;
use crate::reference::Reference;
use crate::signal::Signal;
use crate::{Process, ProcessId};

/// An address of a process that the process can take back.
///
/// COST: two words; cloning counts a reference.
pub struct Alias<M> {
    to: Address<Erlang, M>,
    reference: Reference,
}

impl<M: Send + 'static> Alias<M> {
    /// Sends a message. If the alias has been taken back when the process takes the message out of
    /// its inbox, or the process has ended, it is dropped, and counted.
    ///
    /// COST: two blocks of memory, one of them for the message.
    pub fn send(&self, message: M) {
        let signal = Signal::Aliased { alias: self.reference, message: Box::new(message) };
        if let Err(unread) = self.to.signal(signal) {
            nobody_receives(unread);
        }
    }

    /// It as a number, by which another node may know it; good with [`Alias::id`].
    pub fn number(&self) -> u64 {
        self.reference.number()
    }

    /// The alias of that process which [`Alias::number`] gave that number.
    pub(crate) fn from_number(to: Address<Erlang, M>, number: u64) -> Self {
        Self { to, reference: Reference::from_number(number) }
    }

    /// Whose alias it is.
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
    /// An address of this process that can be taken back with [`Process::unalias`] (L9).
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
    /// Outside of this process's own turn, as receiving does.
    #[track_caller]
    pub fn alias(&self) -> Alias<M> {
        self.make_alias(false)
    }

    /// An alias that is taken back when the first message for it is taken out of the inbox.
    ///
    /// # Panics
    /// Outside of this process's own turn, as receiving does.
    #[track_caller]
    pub fn alias_once(&self) -> Alias<M> {
        self.make_alias(true)
    }

    #[track_caller]
    fn make_alias(&self, once: bool) -> Alias<M> {
        let reference = self.reference();
        self.keep(|local| local.rare().rarer().aliases.insert_new(reference, once));
        Alias { to: self.owner().address(), reference }
    }

    /// Takes an alias back; says whether it was one of this process's, and still good. A message that
    /// is in the mailbox already stays there.
    ///
    /// # Panics
    /// Outside of this process's own turn, as receiving does.
    #[track_caller]
    pub fn unalias(&self, alias: &Alias<M>) -> bool {
        self.keep(|local| local.rare().rarer().aliases.remove(alias.reference)).is_some()
    }
}
