//! One connection of the cluster: its link, what crosses it, and who hears of our ends for the other node.

use std::convert::Infallible;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Context, Poll};

use purlin::foreign::{Carrier, ForeignSignal, LocalProcess};
use purlin::{ExitReason, Node, ProcessId};
use purlin_term::Term;
use tracing::debug;

use super::core::Core;
use super::ids::Ids;
use super::ledger::{Ledger, Theirs};
use super::reason;
use crate::control::Control;
use crate::flags::Flags;
use crate::frame::{Payload, Say};
use crate::link::Link;
use crate::name::NodeName;

/// A connection that is up, or was.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) node: NodeName,
    /// Tells it from others to the same node.
    pub(super) number: u64,
    link: OnceLock<Link>,
    ledger: Mutex<Ledger>,
    /// What crossed it has been told that it is lost.
    lost: AtomicBool,
    /// Watches our processes for theirs; the connection ends with it.
    agent: OnceLock<LocalProcess>,
    /// Who prints there for processes of ours.
    pub(super) user: OnceLock<purlin_term::Pid>,
}

impl Connection {
    /// A connection whose link is about to be there.
    pub(super) fn new(node: NodeName, number: u64, core: &Arc<Core>) -> Arc<Self> {
        let (link, ledger, lost, agent, user) = Default::default();
        let this = Arc::new(Self { node, number, link, ledger, lost, agent, user });
        let agent = Agent(Arc::downgrade(&this), Arc::downgrade(core));
        if let Ok(agent) = core.ids.node.agent(agent) {
            let _ = this.agent.set(agent);
        }
        this
    }

    /// The link is there. It ends at once if the node stops: nobody would hear of our ends.
    pub(super) fn linked(&self, link: Link) {
        // It is called once.
        let _ = self.link.set(link);
        if self.agent.get().is_none_or(LocalProcess::has_ended) {
            self.close();
        }
    }

    /// Whether what crossed it has been told that it is lost.
    pub(super) fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }

    /// Ends it, if it has a link.
    pub(super) fn close(&self) {
        if let Some(link) = self.link.get() {
            link.close();
        }
    }

    pub(super) fn link(&self) -> Option<&Link> {
        self.link.get()
    }

    /// Which links and monitors cross it. INVARIANT: what the ledger says of a process of ours is delivered
    /// under its lock, so that the end of the connection, and what the next one brings, comes after it.
    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // Nobody panics under the lock.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn flags(&self) -> Flags {
        self.link.get().map_or(Flags::NONE, Link::flags)
    }

    /// Says something, behind what was said on the same line: that of whom it is for, as a rule. What comes
    /// too late is dropped, as the node is gone.
    pub(super) fn say(
        &self,
        line: Option<purlin_term::Pid>,
        control: Control,
        payload: Option<Term>,
    ) {
        self.put(line.as_ref(), &control, payload.map(Payload::Term));
    }

    /// [`Connection::say`], of what is said again and again.
    pub(super) fn put<'a>(
        &self,
        line: Option<&purlin_term::Pid>,
        control: impl Into<Say<'a>>,
        payload: Option<Payload<'_>>,
    ) {
        let Some(link) = self.link.get() else { return };
        if let Err(unsent) = link.signal_behind(line, control, payload) {
            debug!(peer = %self.node, "{unsent}");
        }
    }

    /// Delivers to a process of ours what a monitor or its end brings.
    pub(super) fn deliver(&self, node: &Node, to: ProcessId, signal: ForeignSignal) {
        if let Some(agent) = self.agent.get() {
            node.deliver(agent, to, signal);
        }
    }

    /// A process of theirs watches one of ours.
    pub(super) fn watched(&self, ids: &Ids, ours: ProcessId, theirs: Theirs) {
        let monitor = ids.monitor();
        let mut ledger = self.ledger();
        if ledger.watched(monitor, ours, theirs) {
            self.deliver(&ids.node, ours, ForeignSignal::Monitor(monitor));
        }
    }

    /// The node is gone: all that crossed the connection fires `noconnection`, once. Whether it was news.
    pub(super) fn lose(&self, node: &Node) -> bool {
        // ORDER: whoever is told below that it is lost finds it so, as what is delivered orders the two; for
        // others it is a hint, and the ledger knows.
        let was_lost = self.lost.swap(true, Ordering::Relaxed);
        let mut ledger = self.ledger();
        let lost = ledger.lose();
        for (ours, name, signal) in lost.links {
            node.deliver(&name, ours, signal);
        }
        for (ours, monitor) in lost.ours {
            self.deliver(node, ours, ForeignSignal::Down(monitor, ExitReason::NoConnection));
        }
        for (ours, monitor) in lost.theirs {
            self.deliver(node, ours, ForeignSignal::Demonitor(monitor));
        }
        drop(ledger);
        if let Some(agent) = self.agent.get() {
            node.exit(agent.id(), ExitReason::Normal);
        }
        !was_lost
    }
}

/// Hears, for processes of the other node, that ours have ended.
struct Agent(Weak<Connection>, Weak<Core>);

/// The node stops, if the connection is not lost: theirs are told `noconnection`.
impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(connection) = self.0.upgrade() {
            connection.close();
        }
    }
}

impl Carrier<Infallible> for Agent {
    fn poll_end(&mut self, _: &mut Context<'_>) -> Poll<ExitReason> {
        if self.0.upgrade().is_none_or(|connection| connection.is_lost()) {
            Poll::Ready(ExitReason::Normal)
        } else {
            Poll::Pending
        }
    }

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn message(&mut self, never: Infallible) {
        match never {}
    }

    fn signal(&mut self, _: Option<ProcessId>, signal: ForeignSignal) {
        let (Some(connection), Some(core)) = (self.0.upgrade(), self.1.upgrade()) else { return };
        let ForeignSignal::Down(monitor, why) = signal else { return };
        let Some(theirs) = connection.ledger().fires(monitor) else { return };
        let Theirs { watcher, reference, watched } = theirs;
        let (flags, why) = (connection.flags(), reason::to_term(&why));
        let down = Control::down(flags, watched, watcher.clone(), reference, why);
        core.say_behind(&connection, &watcher, None, down);
    }
}

/// What is to be said when nobody keeps this any more. So whoever has something to say before it is given a
/// share of it, in order, and may as well end.
#[derive(Debug)]
pub(super) struct Behind {
    pub(super) connection: Arc<Connection>,
    pub(super) theirs: purlin_term::Pid,
    pub(super) said: Option<(Control, Option<Term>)>,
}

impl fmt::Display for Behind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "something for {}", Term::from(self.theirs.clone()))
    }
}

impl std::error::Error for Behind {}

impl Drop for Behind {
    fn drop(&mut self) {
        if let Some((control, payload)) = self.said.take() {
            self.connection.say(Some(self.theirs.clone()), control, payload);
        }
    }
}
