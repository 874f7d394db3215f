//! Links between processes (L1 to L8).
//!
//! Each of the two processes keeps an entry for the other. `link` adds the local entry immediately
//! and sends [`Signal::Link`]. `unlink` marks the local entry as down, sends [`Signal::Unlink`]
//! with a number, and removes the entry when [`Signal::UnlinkAck`] returns with that number. While
//! the entry is down, every signal of the peer about the link was sent before the peer read the
//! unlink. An exit is ignored (L5), and so is a link, which the peer removes itself when it reads
//! the unlink. Linking again meanwhile marks the entry as up; the acknowledgement, which has
//! another number, then changes nothing. [`Signal::LinkLost`] is an unlink by the proxy of a remote
//! process, whose connection is lost.

use std::future::Future;

use purlin_raw::{ConvertedMessage, Erased};

use crate::node::erlang_types::Peer;
use crate::process::body::Body;
use crate::process::process_ref::ToProcess;
use crate::process::spawn::{ended_placeholder, spawn_here, try_spawn_on};
use crate::signals::conversion::ReceivesExit;
use crate::signals::local_state::{ExtendedState, InitialState, LocalState, OfExit};
use crate::signals::monitor_link::Link;
use crate::signals::signal::Signal;
use crate::{Exit, ExitReason, Outcome, Pid, Process, ProcessId};

impl ExtendedState {
    /// Creates the link or marks it as up, with or without priority. Returns whether the other
    /// process must be informed.
    fn link(&mut self, to: ProcessId, peer: Option<&Peer>, priority: bool) -> bool {
        match self.links.get_mut(to) {
            None => {
                let mut link = Link::new(peer.cloned());
                link.set_up(priority);
                self.links.insert_new(to, link);
                true
            }
            Some(link) => link.set_up(priority),
        }
    }

    /// Marks the link as down. Returns the other process, to be informed, if the link was up.
    fn unlink(&mut self, from: ProcessId, number: u64) -> Option<Peer> {
        let link = self.links.get_mut(from).filter(|link| link.is_up())?;
        link.set_down(number);
        link.peer.clone()
    }

    /// Adds the link that another process has requested.
    pub(crate) fn linked_by(&mut self, peer: Peer) {
        let id = ProcessId::of(&peer);
        if self.links.get_mut(id).is_none() {
            self.links.insert_new(id, Link::new(Some(peer)));
        }
    }

    /// Removes the link that another process has removed.
    #[must_use]
    pub(crate) fn unlinked_by(&mut self, from: ProcessId) -> Option<Link> {
        self.links
            .get_mut(from)
            .is_some_and(|link| link.is_up())
            .then(|| self.links.remove(from))?
    }

    /// Removes the link, because the other process has read the unlink.
    #[must_use]
    pub(crate) fn unlink_acknowledged(&mut self, by: ProcessId, number: u64) -> Option<Link> {
        let is_it = |link: &mut Link| link.waits_for(number);
        self.links.get_mut(by).is_some_and(is_it).then(|| self.links.remove(by))?
    }
}

/// Seals an [`Exit`] into a message.
fn sealed<M: From<Exit>>(from: Option<ProcessId>, reason: ExitReason) -> ConvertedMessage<M> {
    ConvertedMessage::new(M::from(Exit { from, reason }), 0)
}

impl<M: Send + 'static> Process<M> {
    /// Links this process to another. When one of them ends, the other receives an exit signal with
    /// the same reason (L1, L2). The signal ends the other too, unless the reason is `normal` or
    /// the process traps exits (L3).
    ///
    /// Between two processes there is at most one link. Linking a process to itself does nothing.
    /// Linking to a process that has ended sends this process an exit signal with the reason
    /// `noproc` (L6).
    ///
    /// ```
    /// # use purlin::{ExitReason, Process, spawn};
    /// # #[purlin::main] async fn main() {
    /// let other = spawn(async |mut me: Process<()>| me.receive().await);
    /// let linked = other.clone();
    /// let pid = spawn(async move |me: Process<()>| {
    ///     me.link(&linked);
    ///     purlin::exit(ExitReason::error("out of paper"));
    /// });
    /// assert_eq!(other.ended().await.to_string(), "out of paper");
    /// # pid.ended().await;
    /// # }
    /// ```
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    ///
    /// COST: one signal; the first link, monitor or alias of a process allocates its extended
    /// state.
    #[track_caller]
    pub fn link(&self, to: impl ToProcess) {
        self.begin_link(to, false);
    }

    /// [`Process::link`] with priority: if this process traps exits, the [`Exit`] of the link is a
    /// priority message (M6). Erlang's `link(Pid, [priority])`.
    ///
    /// Applies to this end of the link only. If the link exists, also by [`Process::spawn_link`], it
    /// is given priority; [`Process::link`] takes the priority away.
    ///
    /// ```
    /// # use purlin::{Exit, ExitReason, Message, Process};
    /// #[derive(Message)]
    /// enum Msg { Job(u32), #[from] Exit(Exit) }
    ///
    /// #[purlin::main]
    /// async fn main(mut me: Process<Msg>) {
    ///     me.trap_exit(true);
    ///     let child = me.spawn_link(async |_: Process<()>| ());
    ///     me.link_priority(&child);
    ///     me.pid().send(Msg::Job(1));
    ///     child.ended().await;
    ///     assert!(matches!(me.receive().await, Msg::Exit(_)));
    ///     assert!(matches!(me.receive().await, Msg::Job(1)));
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    #[track_caller]
    pub fn link_priority(&self, to: impl ToProcess) {
        self.begin_link(to, true);
    }

    #[track_caller]
    fn begin_link(&self, to: impl ToProcess, priority: bool) {
        let (other, peer) = (to.id(), to.find().0);
        if other == self.id()
            || !self.with_local(|local| local.extended().link(other, peer.as_ref(), priority))
        {
            return;
        }
        let sent = peer.is_some_and(|peer| peer.signal(Signal::Link(self.peer())).is_ok());
        if !sent {
            self.signal_self(Signal::LinkExit { from: other, reason: ExitReason::NoProcess });
        }
    }

    /// Removes a link, if there is one. Once this method has returned, no exit signal of the link
    /// is received (L5). One that is already in the mailbox stays there.
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    #[track_caller]
    pub fn unlink(&self, from: impl ToProcess) {
        let (other, number) = (from.id(), self.reference().number());
        let Some(peer) = self.with_local(|local| local.extended().unlink(other, number)) else {
            return;
        };
        if peer.signal(Signal::Unlink { from: self.peer(), id: number }).is_err() {
            // The peer has ended. Its signals about this link precede any later signal of the peer.
            drop(self.with_local(|local| local.extended().unlink_acknowledged(other, number)));
        }
    }

    /// Returns whether there is a link to another process, which may have ended: then its exit
    /// signal has not been received.
    pub(crate) fn is_linked(&self, to: ProcessId) -> bool {
        let is_up = |local: &mut LocalState| {
            local.extended().links.get_mut(to).is_some_and(|link| link.is_up())
        };
        self.with_local(is_up)
    }

    /// Sets whether exit signals become messages of this process instead of ending it (L3). Returns
    /// the previous setting. A `kill` that is sent cannot be trapped (L4).
    ///
    /// `M::from` creates the message, at the signal's position among the messages.
    ///
    /// ```
    /// # use purlin::{Exit, ExitReason, Process};
    /// enum Msg { Exit(Exit) }
    /// impl From<Exit> for Msg {
    ///     fn from(exit: Exit) -> Self { Msg::Exit(exit) }
    /// }
    ///
    /// #[purlin::main]
    /// async fn main(mut me: Process<Msg>) {
    ///     me.trap_exit(true);
    ///     let child = me.spawn_link(async |_: Process<()>| ExitReason::error("lost"));
    ///     let Msg::Exit(exit) = me.receive().await;
    ///     assert_eq!((exit.from, exit.reason), (Some(child.id()), ExitReason::error("lost")));
    /// }
    /// ```
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does. A panic in `M::from` ends this
    /// process.
    #[track_caller]
    pub fn trap_exit(&self, trap: bool) -> bool
    where
        M: ReceivesExit,
    {
        let convert = Erased::new::<OfExit<M>>(sealed);
        let before = self.with_local(|local| {
            std::mem::replace(&mut local.extended().trap, trap.then_some(convert))
        });
        before.is_some()
    }

    /// Spawns a process and links it to this one, in one step (L8).
    /// [`SpawnOptions::link`](crate::SpawnOptions::link) does so with options.
    ///
    /// If the spawn fails, this process receives an exit signal with the reason `system_limit`.
    ///
    /// # Panics
    /// Panics outside this process's own turns, as receiving does.
    ///
    /// COST: as [`spawn()`](crate::spawn()), and the link's entry in both processes.
    #[track_caller]
    pub fn spawn_link<N, F, Fut>(&self, function: F) -> Pid<N>
    where
        N: Send + 'static,
        F: FnOnce(Process<N>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let local = self.linked_child();
        let pid = spawn_here(|node_core, parent| {
            try_spawn_on(node_core, parent, local, (), function, Body::new)
                .unwrap_or_else(|error| ended_placeholder(node_core, parent, error))
        });
        self.link_child(&pid);
        if let Some(ExitReason::SystemLimit) = pid.exit_reason() {
            self.signal_self(Signal::LinkExit { from: pid.id(), reason: ExitReason::SystemLimit });
        }
        pid
    }

    /// Returns the initial private state of a child that is linked to this process.
    #[track_caller]
    pub(crate) fn linked_child(&self) -> LocalState {
        self.assert_in_turn();
        LocalState::with_initial(InitialState::Linked(self.id(), Link::new(Some(self.peer()))))
    }

    /// Adds the link to a child that was spawned with the state of [`Process::linked_child`].
    #[track_caller]
    pub(crate) fn link_child<N: Send + 'static>(&self, pid: &Pid<N>) {
        let child = pid.address().clone().untyped();
        self.with_local(|local| {
            local.extended().links.insert_new(pid.id(), Link::new(Some(child)))
        });
    }
}
