//! Node state and the per-process types of a node: the implementation of [`RuntimeTypes`].

use std::any::Any;
use std::cell::{Cell, OnceCell};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

use purlin_raw::{DropCounters, Either, End, NodeCore, Outgoing, RuntimeTypes, Slot, catch_panic};
use purlin_sched::TimerWheel;
use tokio::sync::watch;

use crate::application::Applications;
use crate::node::extensions::Extensions;
use crate::node::handle::Inner;
use crate::node::names::Names;
use crate::observe::Journal;
use crate::signals::local_state::{InitialState, LocalState};
use crate::signals::reference::Reference;
use crate::signals::signal::{Signal, answer_as_ended, send_signal};
use crate::trace::hooks;
use crate::{ExitReason, ProcessId, StopReport};

/// Type family ([`RuntimeTypes`]) of Erlang's processes.
pub(crate) struct ErlangTypes;

/// Immutable data of a process, readable from any thread, also after its end.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Creation of the process's node.
    pub(crate) creation: u32,
    /// Creation of the parent's node.
    parent_creation: u32,
    /// Slot of the parent, if a process spawned this one.
    parent: Option<Slot>,
}

impl Shared {
    #[inline]
    pub(crate) fn new(creation: u32, parent: Parent) -> Self {
        Self { creation, parent_creation: parent.creation, parent: parent.slot }
    }

    /// Returns whether this is a system process ([`Parent::NODE`]) or a proxy, not a user process.
    pub(crate) fn is_system(&self) -> bool {
        self.parent.is_none() && self.parent_creation == Parent::NODE.creation || self.is_proxy()
    }

    /// Returns whether this is a proxy for a remote process ([`Parent::ELSEWHERE`]).
    pub(crate) fn is_proxy(&self) -> bool {
        self.parent.is_none() && self.parent_creation == Parent::ELSEWHERE.creation
    }

    /// Returns the id of the parent, if a process spawned this one.
    pub(crate) fn parent(&self) -> Option<ProcessId> {
        self.parent.map(|slot| ProcessId::new(self.parent_creation, slot))
    }
}

/// Parent of a process to be spawned.
#[derive(Clone, Copy)]
pub(crate) struct Parent {
    creation: u32,
    slot: Option<Slot>,
}

impl Parent {
    /// The node itself: parent of system processes, which end after user processes and proxies.
    pub(crate) const NODE: Self = Self { creation: u32::MAX, slot: None };
    /// Another node: parent of proxies for its processes, which end after this node's user
    /// processes.
    pub(crate) const ELSEWHERE: Self = Self { creation: u32::MAX - 1, slot: None };

    /// Returns the process in whose turn this thread is, of whatever node.
    pub(crate) fn current() -> Self {
        with_context(NodeContext::parent).unwrap_or(Self { creation: 0, slot: None })
    }

    /// Returns the id of the parent, if it is a process.
    pub(crate) fn id(self) -> Option<ProcessId> {
        self.slot.map(|slot| ProcessId::new(self.creation, slot))
    }
}

/// Exit status of a process. WHY: not the exit reason, because nearly all processes end with
/// `normal`, which is a null pointer here.
#[derive(Debug, Default)]
pub(crate) struct ExitStatus(Option<Box<Reason>>);

/// Exit reason other than `normal`.
#[derive(Debug)]
struct Reason(ExitReason);

impl ExitStatus {
    #[inline]
    pub(crate) fn new(reason: ExitReason) -> Self {
        match reason {
            ExitReason::Normal => Self(None),
            reason => Self(Some(Box::new(Reason(reason)))),
        }
    }

    #[inline]
    pub(crate) fn is_normal(&self) -> bool {
        self.0.is_none()
    }

    pub(crate) fn reason(&self) -> ExitReason {
        self.0.as_ref().map_or(ExitReason::Normal, |reason| reason.0.clone())
    }
}

impl Drop for Reason {
    /// WHY: `catch_panic`, because a reason may hold an error of user code. It is dropped with its
    /// cell, on the thread that drops the last reference.
    fn drop(&mut self) {
        let reason = std::mem::replace(&mut self.0, ExitReason::Normal);
        catch_panic(|| drop(reason));
    }
}

/// Counters of messages that were never received, by cause (M4, B3).
#[derive(Debug, Default)]
pub(crate) struct Drops {
    /// Messages whose receiver had ended, or ended while they waited.
    pub(crate) ended: AtomicU64,
    /// Messages to an alias that had been removed.
    pub(crate) alias: AtomicU64,
    /// Messages dropped or rejected by a full mailbox.
    pub(crate) at_bound: Arc<DropCounters>,
}

impl Drops {
    pub(crate) fn ended(&self, messages: u64) {
        self.ended.fetch_add(messages, Ordering::Relaxed);
    }

    pub(crate) fn alias(&self) {
        self.alias.fetch_add(1, Ordering::Relaxed);
    }
}

/// Node state that all processes share.
#[derive(Debug)]
pub(crate) struct NodeState {
    pub(crate) creation: u32,
    pub(crate) name: String,
    /// Counters of messages that were never received.
    pub(crate) dropped: Drops,
    /// Registered names.
    pub(crate) names: Names,
    /// Running applications.
    pub(crate) applications: Applications,
    /// Extensions, which end with the node.
    pub(crate) extensions: Extensions,
    /// Journal of recent crashes, reports and restarts.
    pub(crate) journal: Journal,
    /// Next batch of numbers for references.
    pub(crate) batches: AtomicU64,
    /// Set once the node starts no more processes.
    pub(crate) stopping: AtomicBool,
    /// Number of spawns from outside the node that are in progress.
    pub(crate) outside_spawns: AtomicUsize,
    /// Number of failed spawns; distinguishes their placeholders.
    pub(crate) failed_spawns: AtomicU32,
    /// Report of the stop, once the node has stopped.
    pub(crate) stopped: watch::Sender<Option<StopReport>>,
}

impl NodeState {
    pub(crate) fn new(creation: u32, name: String) -> Self {
        Self {
            creation,
            name,
            dropped: Drops::default(),
            names: Names::default(),
            applications: Applications::default(),
            extensions: Extensions::default(),
            journal: Journal::default(),
            batches: AtomicU64::new(Reference::first_batch(creation)),
            stopping: AtomicBool::new(false),
            outside_spawns: AtomicUsize::new(0),
            failed_spawns: AtomicU32::new(0),
            stopped: watch::Sender::new(None),
        }
    }
}

impl RuntimeTypes for ErlangTypes {
    type Signal = Signal;
    type Local = LocalState;
    type Shared = Shared;
    type ExitStatus = ExitStatus;
    type NodeState = NodeState;

    #[inline]
    fn has_state(local: &LocalState) -> bool {
        local.is_set()
    }

    fn closed(node_state: &NodeState, end: &End<'_, Self>, local: &mut LocalState) {
        if end.dropped > 0 {
            node_state.dropped.ended(end.dropped as u64);
        }
        let me = ProcessId::new(end.shared.creation, end.slot);
        let status = end.exit_status;
        let mut rare = match local.take() {
            None => return,
            Some(Either::Left(InitialState::Linked(_, link))) => return link.ended(me, status),
            Some(Either::Left(InitialState::Watched(reference, watcher))) => {
                return send_signal(&watcher, Signal::Down { reference, reason: status.reason() });
            }
            Some(Either::Right(rare)) => rare,
        };
        // N1: the name is free before any signal of the end is sent.
        if rare.named {
            node_state.names.release(end.slot);
        }
        rare.watchers.drain(|reference, watcher| {
            send_signal(&watcher, Signal::Down { reference, reason: status.reason() });
        });
        rare.links.drain(|_, link| link.ended(me, status));
        rare.monitors.drain(|reference, monitoring| monitoring.over(reference));
        if let Some(rare) = &mut rare.rare {
            if let Some(buffer) = rare.followed.take() {
                hooks::ended(&buffer, me, status);
                // The trace buffer holds user code.
                catch_panic(|| drop(buffer));
            }
            rare.at_end.iter().for_each(|watch| watch.wake());
            rare.late.drain(..).for_each(|signal| answer_as_ended(me, signal));
        }
        // The rest may hold user code: a waker.
        catch_panic(|| drop(rare));
    }

    fn sent(to: Slot, shared: &Shared, message_type: &'static str, what: Outgoing<'_, Self>) {
        hooks::sent(to, shared, message_type, &what);
    }

    fn received(message_type: &'static str, message: Option<&dyn Any>) {
        hooks::received(message_type, message);
    }

    fn undelivered(node_state: &NodeState, local: &mut LocalState, signal: Signal) {
        match signal {
            Signal::Named => local.rare().named = true,
            Signal::Aliased { message, .. } => {
                node_state.dropped.alias();
                catch_panic(|| drop(message));
            }
            asks @ (Signal::Link(_)
            | Signal::Unlink { .. }
            | Signal::Monitor { .. }
            | Signal::WatchEnd(_)) => local.rare().rare().late.push(asks),
            unread => catch_panic(|| drop(unread)),
        }
    }
}

/// Thread-local context of a thread that runs processes.
pub(crate) struct NodeContext {
    pub(crate) node_core: NodeCore<ErlangTypes>,
    pub(crate) node: Weak<Inner>,
    /// Timing wheel of this worker.
    pub(crate) timers: TimerWheel,
    /// Whether the thread is a worker now. A thread for blocking turns never is. A simulation's
    /// thread is not while it runs tokio's tasks.
    pub(crate) worker: Cell<bool>,
    /// Next number for a reference.
    pub(crate) numbers: Cell<u64>,
}

impl NodeContext {
    /// Returns the process whose turn this thread is in. It belongs to this node, as the thread
    /// does.
    #[inline]
    pub(crate) fn parent(&self) -> Parent {
        Parent { creation: self.node_core.state().creation, slot: purlin_raw::current_slot() }
    }
}

thread_local! {
    static HERE: OnceCell<NodeContext> = const { OnceCell::new() };
}

/// Binds this thread to a node for the rest of the thread's life.
pub(crate) fn enter_node(here: impl FnOnce() -> NodeContext) {
    HERE.with(|cell| {
        cell.get_or_init(here);
    });
}

/// Marks a bound thread as a worker while `f` runs.
pub(crate) fn run_worker<R>(f: impl FnOnce() -> R) -> R {
    let set = |worker| HERE.with(|cell| cell.get().map(|here| here.worker.set(worker)));
    set(true);
    let result = f();
    set(false);
    result
}

/// Runs `f` with the context of this thread. Returns `None` if the thread runs no processes.
#[inline]
pub(crate) fn with_context<R>(f: impl FnOnce(&NodeContext) -> R) -> Option<R> {
    // WHY: a thread of tokio's blocking pool belongs to the node only while it runs a process;
    // between two turns tokio may run any other code on it.
    let ours = |here: &&NodeContext| here.worker.get() || purlin_raw::in_process();
    HERE.try_with(|here| here.get().filter(ours).map(f)).ok().flatten()
}

/// Returns whether this thread is a worker; blocking a worker would stall processes.
pub(crate) fn is_worker() -> bool {
    with_context(|here| here.worker.get()).unwrap_or(false)
}
