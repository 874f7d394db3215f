//! Processes of other nodes: how a service that reaches them stands for them on this one.
//!
//! A process elsewhere is here a *stand-in*: a cell like any other, with a [`Pid`] one can send to,
//! link to and monitor, but without a function of its own. What arrives in its inbox goes, in order
//! and whatever its kind (M2), to a [`Carrier`], which takes it to where the process is. What comes
//! from there is put into the inbox of a process of this node by [`Node::deliver`], in the name of the
//! stand-in, or sent to it as a message ([`LocalProcess::pid`]).
//!
//! The signals of [`ForeignSignal`] are those of Erlang's distribution, one for one. A stand-in keeps
//! nothing of them: who is linked to whom and who monitors whom is known at both ends, and to the
//! service, which has to tell this end when it loses the other (`noconnection`).
//!
//! | on this node | what the carrier is given | what is delivered in return |
//! |---|---|---|
//! | [`Process::link`](crate::Process::link) to a stand-in | `Link` | `LinkExit`, when that process ends |
//! | a linked process ends | `LinkExit` | |
//! | [`Process::unlink`](crate::Process::unlink) | `Unlink` with a number | `UnlinkAck` with that number |
//! | [`Process::monitor`](crate::Process::monitor) | `Monitor` with a reference | `Down` with that reference |
//! | [`Process::demonitor`](crate::Process::demonitor) | `Demonitor` | |
//! | [`Pid::exit`] | `Exit` | |
//!
//! and the other way round: a delivered `Link`, `Unlink` or `Monitor` is answered through the carrier
//! of the stand-in in whose name it came, also by a process that has ended (L6, D2).
//!
//! A stand-in ends when its carrier says so, and when its node stops and all processes that could send to it
//! have ended, which the process elsewhere is not told; then it is, for everybody here, a process that has ended.
//! What takes things there and back runs beside the processes ([`Node::serve`]).

mod answer;
mod service;
mod stand_in;

use std::any::TypeId;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

use purlin_raw::oneshot;

pub use answer::Answer;

use crate::home::Home;
use crate::signal::{Peer, Signal, answer_as_ended};
use crate::{Alias, ExitReason, LookupError, MonitorRef, Node, Pid, ProcessId, Reply};

/// What takes what is sent to a stand-in to the process that it stands for.
///
/// It is called in the stand-in's turns, on a worker, and must not block.
pub trait Carrier<M>: Send + 'static {
    /// The stand-in begins; this is what it is called here.
    fn begin(&mut self, stand_in: &LocalProcess) {
        let _ = stand_in;
    }

    /// Whether the stand-in is to end, and with which reason. Asked when a turn begins, also if nothing has
    /// arrived, and when all has been passed on; so the waker of the last time is always a good one.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<ExitReason>;

    /// Something has arrived: whether it can be taken. `Pending` leaves it there, and has kept the
    /// waker. Asked for messages, and for [`ForeignSignal::Link`], [`ForeignSignal::Monitor`] and
    /// [`ForeignSignal::Exit`]. All others are small, and at most as many as these and what was delivered:
    /// they answer something, or end it.
    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<()>;

    /// Takes a message.
    fn message(&mut self, message: M);

    /// Takes a signal. `from` is the process of this node that sent it; `None` if none did, and for
    /// [`ForeignSignal::Demonitor`] and [`ForeignSignal::Down`], which are known by their monitor.
    fn signal(&mut self, from: Option<ProcessId>, signal: ForeignSignal);
}

/// What travels beside messages between a process of this node and one elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignSignal {
    /// End, with this reason (L4).
    Exit(ExitReason),
    /// The sender was linked to the receiver and has ended (L2), or there is no such process (L6).
    LinkExit(ExitReason),
    /// Be linked to me (L1).
    Link,
    /// Be no longer linked to me, and acknowledge this number (L5).
    Unlink(u64),
    /// The answer to that.
    UnlinkAck(u64),
    /// Tell me when you have ended (D1).
    Monitor(MonitorRef),
    /// No longer.
    Demonitor(MonitorRef),
    /// The sender has ended, which that monitor was to tell.
    Down(MonitorRef, ExitReason),
}

/// A process of this node, whatever it receives; a stand-in is one.
#[derive(Clone)]
pub struct LocalProcess(Peer);

impl LocalProcess {
    /// What it is called.
    pub fn id(&self) -> ProcessId {
        ProcessId::of(&self.0)
    }

    /// The type of its messages.
    pub fn message_type(&self) -> TypeId {
        self.0.message_type()
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.0.has_ended()
    }

    /// How many refer to it, at most: each address and each of these, the table of the node's processes while
    /// it lives, and whoever has it as the other end of a link or monitor. Whoever finds that nobody else does
    /// comes after all that others have sent to it.
    pub fn references(&self) -> u32 {
        self.0.references()
    }

    /// Its address.
    ///
    /// # Errors
    /// [`LookupError::OtherType`] if it receives something else.
    pub fn pid<M: Send + 'static>(self) -> Result<Pid<M>, LookupError> {
        Pid::typed(self.0)
    }

    /// Its alias that [`Alias::number`] gave that number; one that was taken back, or never was, is good for nothing
    /// (L9).
    ///
    /// # Errors
    /// [`LookupError::OtherType`] if it receives something else.
    pub fn alias<M: Send + 'static>(self, number: u64) -> Result<Alias<M>, LookupError> {
        let pid = self.pid::<M>()?;
        Ok(Alias::from_number(pid.address().clone(), number))
    }
}

impl<M: Send + 'static> From<&Pid<M>> for LocalProcess {
    fn from(pid: &Pid<M>) -> Self {
        Self(pid.address().clone().untyped())
    }
}

impl fmt::Debug for LocalProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("LocalProcess").field(&self.id()).finish()
    }
}

/// The right to answer a call of a process elsewhere, to be handed to one of this node; and its
/// answer, which is `None` if there will be none.
///
/// *Cancellation*: dropping the future tells whoever answers that nobody waits.
pub fn reply<T>() -> (Reply<T>, impl Future<Output = Option<T>>) {
    // Whoever polls it says whom to wake.
    let (to, mut answer) = oneshot(Waker::noop().clone());
    (Reply::new(to), poll_fn(move |cx| answer.poll(cx)))
}

/// New references, for monitors that processes elsewhere have of processes of this node.
///
/// COST: one atomic operation on a word of the node for a thousand of them.
#[derive(Debug)]
pub struct MonitorRefs {
    next: u64,
    end: u64,
}

impl MonitorRefs {
    /// A reference that nothing else has.
    pub fn next(&mut self, node: &Node) -> MonitorRef {
        if self.next == self.end {
            *self = Self::batch(node.home());
        }
        let number = self.next;
        self.next += 1;
        MonitorRef::from_number(number)
    }

    fn batch(home: &Home) -> Self {
        let batch = home.batches.fetch_add(1, Ordering::Relaxed);
        let numbers = crate::reference::batch(batch);
        Self { next: numbers.start, end: numbers.end }
    }
}

impl Node {
    /// A process of this node that lives, to deliver something to.
    pub fn local_process(&self, id: ProcessId) -> Option<LocalProcess> {
        self.find(id).map(LocalProcess)
    }

    /// The process of this node that has that name (N1).
    pub fn local_name(&self, name: &str) -> Option<LocalProcess> {
        self.home().names.find(name).map(LocalProcess)
    }

    /// The start of this node: Erlang's *creation*, which its processes' ids hold.
    pub fn creation(&self) -> u32 {
        self.home().creation
    }

    /// Where references for monitors come from.
    pub fn monitor_refs(&self) -> MonitorRefs {
        MonitorRefs::batch(self.home())
    }

    /// Puts a signal into the inbox of a process of this node, in the name of a stand-in. A process
    /// that has ended, or never was, answers through the stand-in's carrier what one that has ended
    /// answers: `LinkExit` or `Down` with `noproc`, or the acknowledgement of an unlink.
    pub fn deliver(&self, from: &LocalProcess, to: ProcessId, signal: ForeignSignal) {
        let (sender, peer) = (from.id(), || from.0.clone());
        let signal = match signal {
            ForeignSignal::Exit(reason) => Signal::Exit { from: Some(sender), reason },
            ForeignSignal::LinkExit(reason) => Signal::LinkExit { from: sender, reason },
            ForeignSignal::Link => Signal::Link(peer()),
            ForeignSignal::Unlink(id) => Signal::Unlink { from: peer(), id },
            ForeignSignal::UnlinkAck(id) => Signal::UnlinkAck { from: sender, id },
            ForeignSignal::Monitor(monitor) => {
                Signal::Monitor { reference: monitor.into_inner(), watcher: peer() }
            }
            ForeignSignal::Demonitor(monitor) => Signal::Demonitor(monitor.into_inner()),
            ForeignSignal::Down(monitor, reason) => {
                Signal::Down { reference: monitor.into_inner(), reason }
            }
        };
        let unread = match self.find(to) {
            Some(process) => process.signal(signal).err(),
            None => Some(signal),
        };
        if let Some(unread) = unread {
            answer_as_ended(to, unread);
        }
    }
}
