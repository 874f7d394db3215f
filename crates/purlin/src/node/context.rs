//! Context of a thread that runs processes: its node and its timers.

use std::cell::{Cell, OnceCell};
use std::sync::Weak;
use std::sync::atomic::Ordering;
use std::time::Duration;

use purlin_raw::NodeCore;
use purlin_sched::TimerWheel;

use crate::node::erlang_types::ErlangTypes;
use crate::node::handle::{Inner, Node};
use crate::process::shared::Parent;
use crate::signals::reference::Reference;

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
    pub(crate) fn parent(&self) -> Parent {
        Parent::new(self.node_core.state().creation, purlin_raw::current_slot())
    }

    /// Returns a new reference.
    pub(crate) fn reference(&self) -> Reference {
        Reference::next(&self.numbers, &self.node_core.state().batches)
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

/// Returns whether the node is stopping. If so, an exit signal without a sender is the node's.
pub(crate) fn is_stopping() -> bool {
    with_context(|here| here.node_core.state().stopping.load(Ordering::Relaxed)).unwrap_or(false)
}

impl Parent {
    /// Returns the process in whose turn this thread is, of whatever node.
    pub(crate) fn current() -> Self {
        with_context(NodeContext::parent).unwrap_or(Self::NONE)
    }
}

impl Node {
    /// Returns the node of the current process; `None` outside of processes.
    pub fn current() -> Option<Self> {
        with_context(|here| here.node.upgrade()).flatten().map(Self::new)
    }

    /// Returns [`Node::uptime`] of the current process's node; `None` outside of processes.
    ///
    /// ```
    /// use purlin::{Node, yield_now};
    ///
    /// #[purlin::main]
    /// async fn main() {
    ///     let before = Node::current_uptime();
    ///     yield_now().await;
    ///     assert!(before.is_some() && before <= Node::current_uptime());
    /// }
    /// ```
    ///
    /// COST: a reading of the clock. Unlike [`Node::current`] it writes to no memory that threads
    /// share.
    pub fn current_uptime() -> Option<Duration> {
        with_context(|here| here.timers.now())
    }
}
