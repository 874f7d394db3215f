//! Handle of a process on itself.

use std::fmt;

use purlin_raw::{InTurn, Owner};

use crate::node::context::{NodeContext, with_context};
use crate::node::erlang_types::{ErlangTypes, Peer};
use crate::signals::local_state::LocalState;
use crate::signals::reference::Reference;
use crate::signals::signal::{Signal, send_signal};
use crate::{Pid, ProcessId};

/// Handle of a process on itself, passed to its function: its mailbox and its identity.
///
/// The handle belongs in the process's own function. It may be moved elsewhere, for example into a
/// `tokio::spawn`. Its [`pid`](Process::pid) still works there, but receiving does not.
///
/// # Panics
///
/// Methods that read or change the private state of the process ([`receive`](Process::receive),
/// [`receive!`](crate::receive!), [`link`](Process::link), [`monitor`](Process::monitor) and so on)
/// panic outside the process's own turns: *“used outside of process <0.12.0>: only the function its
/// handle was given to can receive, link or monitor; another task awaits a channel to which that
/// function sends”*. Such a panic loses no message.
pub struct Process<M> {
    owner: Owner<ErlangTypes, M>,
}

impl<M: Send + 'static> Process<M> {
    pub(crate) fn new(owner: Owner<ErlangTypes, M>) -> Self {
        Self { owner }
    }

    pub(crate) fn owner(&self) -> &Owner<ErlangTypes, M> {
        &self.owner
    }

    /// Returns an address of this process, for other processes to send to.
    pub fn pid(&self) -> Pid<M> {
        Pid::new(self.owner.address())
    }

    /// Returns the id of this process.
    pub fn id(&self) -> ProcessId {
        ProcessId::of(&self.owner)
    }

    /// Reports the number of bytes that this process has allocated, which the runtime cannot know
    /// (P5). See [`ProcessDetails::reported_memory`](crate::ProcessDetails::reported_memory).
    pub fn report_memory(&self, bytes: usize) {
        self.with_local(|local| local.extended().cold().memory = bytes);
    }

    /// Runs `f` in a turn of this process.
    ///
    /// # Panics
    /// Panics outside this process's own turns.
    // WHY: as for `Owner::in_turn`.
    #[inline(always)]
    #[track_caller]
    pub(crate) fn in_turn<R>(&self, f: impl FnOnce(InTurn<'_, ErlangTypes, M>) -> R) -> R {
        // WHY before: a panic in a closure does not report the caller's line.
        if !self.owner.is_current() {
            self.not_here();
        }
        self.owner.in_turn(f, || unreachable!("checked above"))
    }

    /// Runs `f` on the private state of this process.
    #[track_caller]
    pub(crate) fn with_local<R>(&self, f: impl FnOnce(&mut LocalState) -> R) -> R {
        self.in_turn(|me| me.local(f))
    }

    /// Returns an untyped handle on this process, for another process to store.
    pub(crate) fn peer(&self) -> Peer {
        self.owner.address().untyped()
    }

    /// Sends a signal from this process to itself.
    pub(crate) fn signal_self(&self, signal: Signal) {
        send_signal(&self.owner, signal);
    }

    #[track_caller]
    pub(crate) fn reference(&self) -> Reference {
        match with_context(NodeContext::reference) {
            Some(reference) => reference,
            None => self.not_here(),
        }
    }

    /// Checks the turn, for methods with effects before their first access to private state.
    ///
    /// # Panics
    /// Panics outside this process's own turns.
    #[track_caller]
    pub(crate) fn assert_in_turn(&self) {
        self.in_turn(|_| ());
    }

    #[cold]
    #[track_caller]
    pub(crate) fn not_here(&self) -> ! {
        panic!(
            "used outside of process {}: only the function its handle was given to can receive, \
             link or monitor; another task awaits a channel to which that function sends",
            self.id()
        )
    }
}

impl<M: Send + 'static> fmt::Debug for Process<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Process").field(&self.id()).finish()
    }
}
