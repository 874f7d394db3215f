//! Links: two processes that end together (L1 to L8).
//!
//! Each of the two keeps an entry for the other. `link` makes its own at once and sends
//! [`Signal::Link`]; `unlink` marks its own as down, sends [`Signal::Unlink`] with a number, and takes
//! the entry out when [`Signal::UnlinkAck`] comes back with that number. While the entry is down,
//! whatever the other sends about the link was sent before it had read the unlink: an exit is ignored
//! (L5), and so is a link, which the other will take back itself when it reads the unlink. Linking
//! again meanwhile marks the entry as up, and the acknowledgement, whose number it does not have,
//! changes nothing.

use std::future::Future;
use std::num::NonZero;

use purlin_raw::{Erased, Sealed};

use crate::home::Last;
use crate::local::{Bond, Local, OfExit, Rare};
use crate::options::SpawnOptions;
use crate::process_ref::ToProcess;
use crate::reference::Reference;
use crate::signal::{Peer, Signal, tell};
use crate::spawn::{spawn_here, spawn_on};
use crate::{ExitReason, Outcome, Pid, Process, ProcessId, SpawnError};

/// An exit signal, as a process that traps exits receives it: Erlang's `{'EXIT', From, Reason}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exit {
    /// Who ended, or who sent it; `None` if no process did, but the node, or a thread from outside.
    pub from: Option<ProcessId>,
    /// Why.
    pub reason: ExitReason,
}

/// One end of a link.
#[derive(Debug)]
pub(crate) struct Link {
    /// The other end; `None` if it was gone from the start.
    peer: Option<Peer>,
    /// The number of the unlink that has not been acknowledged.
    unlinking: Option<NonZero<u64>>,
}

impl Link {
    pub(crate) fn new(peer: Option<Peer>) -> Self {
        Self { peer, unlinking: None }
    }

    pub(crate) fn is_up(&self) -> bool {
        self.unlinking.is_none()
    }

    /// The process that holds this end has ended.
    pub(crate) fn ended(self, me: ProcessId, last: &Last) {
        if let (Some(peer), None) = (self.peer, self.unlinking) {
            tell(&peer, Signal::LinkExit { from: me, reason: last.reason() });
        }
    }
}

impl Rare {
    /// The process links to another; whether that one has to be told.
    fn link(&mut self, to: ProcessId, peer: Option<&Peer>) -> bool {
        match self.links.get_mut(to) {
            None => {
                self.links.insert_new(to, Link::new(peer.cloned()));
                true
            }
            Some(link) => link.unlinking.take().is_some(),
        }
    }

    /// The process unlinks itself; whom to tell, if it was linked.
    fn unlink(&mut self, from: ProcessId, number: u64) -> Option<Peer> {
        let link = self.links.get_mut(from).filter(|link| link.is_up())?;
        link.unlinking = NonZero::new(number);
        link.peer.clone()
    }

    /// Another process has linked itself to this one.
    pub(crate) fn linked_by(&mut self, peer: Peer) {
        let id = ProcessId::of(&peer);
        if self.links.get_mut(id).is_none() {
            self.links.insert_new(id, Link::new(Some(peer)));
        }
    }

    /// Another process has unlinked itself from this one.
    #[must_use]
    pub(crate) fn unlinked_by(&mut self, from: ProcessId) -> Option<Link> {
        self.links
            .get_mut(from)
            .is_some_and(|link| link.is_up())
            .then(|| self.links.remove(from))?
    }

    /// It has read our unlink.
    #[must_use]
    pub(crate) fn unlink_acknowledged(&mut self, by: ProcessId, number: u64) -> Option<Link> {
        let is_it = |link: &mut Link| link.unlinking.is_some_and(|waits| waits.get() == number);
        self.links.get_mut(by).is_some_and(is_it).then(|| self.links.remove(by))?
    }
}

/// An [`Exit`] in a message.
fn sealed<M: From<Exit>>(from: Option<ProcessId>, reason: ExitReason) -> Sealed<M> {
    Sealed::new(M::from(Exit { from, reason }), 0)
}

impl<M: Send + 'static> Process<M> {
    /// Links this process to another: when one of them ends, the other is sent an exit signal with
    /// its reason (L1, L2), which ends it too unless the reason is `normal`, or it traps exits (L3).
    ///
    /// Between two processes there is at most one link; linking to oneself does nothing. Linking to
    /// a process that has ended sends this one an exit signal with the reason `noproc` (L6).
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
    /// Outside of this process's own turn, as receiving does.
    ///
    /// COST: one signal; the first link, monitor or alias of a process allocates what keeps them.
    #[track_caller]
    pub fn link(&self, to: impl ToProcess) {
        let (other, peer) = (to.id(), to.find().0);
        if other == self.id() || !self.keep(|local| local.rare().link(other, peer.as_ref())) {
            return;
        }
        let told = peer.is_some_and(|peer| peer.signal(Signal::Link(self.peer())).is_ok());
        if !told {
            self.tell_itself(Signal::LinkExit { from: other, reason: ExitReason::NoProcess });
        }
    }

    /// Takes a link back, if there is one: once this has returned, no exit signal of it is received
    /// (L5). One that is in the mailbox already stays there.
    ///
    /// # Panics
    /// Outside of this process's own turn, as receiving does.
    #[track_caller]
    pub fn unlink(&self, from: impl ToProcess) {
        let (other, number) = (from.id(), self.reference().number());
        let Some(peer) = self.keep(|local| local.rare().unlink(other, number)) else { return };
        if peer.signal(Signal::Unlink { from: self.peer(), id: number }).is_err() {
            // It has ended: what it sent about the link comes before anything else of it.
            drop(self.keep(|local| local.rare().unlink_acknowledged(other, number)));
        }
    }

    /// Whether exit signals become messages of this process instead of ending it (L3); says whether
    /// they did before. `kill` that is sent cannot be trapped (L4).
    ///
    /// The message is made by `M::from` where the signal stands among the messages, in order.
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
    /// Outside of this process's own turn, as receiving does; and `M::from`, if it panics, panics in
    /// the process.
    #[track_caller]
    pub fn trap_exit(&self, trap: bool) -> bool
    where
        M: From<Exit>,
    {
        let convert = Erased::new::<OfExit<M>>(sealed);
        let before =
            self.keep(|local| std::mem::replace(&mut local.rare().trap, trap.then_some(convert)));
        before.is_some()
    }

    /// Spawns a process that is linked to this one from its beginning (L8).
    ///
    /// If none can be spawned, an exit signal with the reason `system_limit` comes instead.
    ///
    /// # Panics
    /// Outside of this process's own turn, as receiving does.
    ///
    /// COST: as [`spawn()`](crate::spawn()), and what keeps the link, in both.
    #[track_caller]
    pub fn spawn_link<N, F, Fut>(&self, function: F) -> Pid<N>
    where
        N: Send + 'static,
        F: FnOnce(Process<N>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let local = self.linked_child();
        let pid = spawn_here(|realm, parent| spawn_on(realm, parent, local, function));
        self.keep_child(&pid);
        if let Some(ExitReason::SystemLimit) = pid.exit_reason() {
            self.tell_itself(Signal::LinkExit { from: pid.id(), reason: ExitReason::SystemLimit });
        }
        pid
    }

    /// [`Process::spawn_link`] with options.
    ///
    /// # Errors
    /// As [`spawn_opt`](crate::spawn_opt()); then nothing is linked, and no signal comes.
    ///
    /// # Panics
    /// Outside of this process's own turn, as receiving does.
    #[track_caller]
    pub fn spawn_link_opt<N, F, Fut>(
        &self,
        options: SpawnOptions,
        function: F,
    ) -> Result<Pid<N>, SpawnError<F>>
    where
        N: Send + 'static,
        F: FnOnce(Process<N>) -> Fut + Send + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: Outcome,
    {
        let local = self.linked_child();
        let pid = spawn_here(|realm, parent| options.spawn(realm, parent, local, function))?;
        self.keep_child(&pid);
        Ok(pid)
    }

    /// What a child keeps that is linked to this process from its beginning.
    #[track_caller]
    fn linked_child(&self) -> Local {
        self.demand_here();
        Local::bound(Bond::Linked(self.id(), Link::new(Some(self.peer()))))
    }

    #[track_caller]
    fn keep_child<N: Send + 'static>(&self, pid: &Pid<N>) {
        let child = pid.address().clone().untyped();
        self.keep(|local| local.rare().links.insert_new(pid.id(), Link::new(Some(child))));
    }

    /// Acts on what this process keeps for itself.
    #[track_caller]
    pub(crate) fn keep<R>(&self, f: impl FnOnce(&mut Local) -> R) -> R {
        self.owner().local(f).unwrap_or_else(|_| self.not_here())
    }

    /// This process, for another to keep.
    pub(crate) fn peer(&self) -> Peer {
        self.owner().address().untyped()
    }

    /// A signal of this process to itself.
    pub(crate) fn tell_itself(&self, signal: Signal) {
        tell(&self.peer(), signal);
    }

    #[track_caller]
    pub(crate) fn reference(&self) -> Reference {
        Reference::new().unwrap_or_else(|| self.not_here())
    }
}
