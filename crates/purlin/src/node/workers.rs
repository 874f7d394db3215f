//! Scheduler hooks of a node: bind threads to it, run blocking turns elsewhere, report processes
//! that do not yield.

use std::cell::Cell;
use std::sync::Weak;
use std::time::{Duration, Instant};

use crate::process::unwind::contain;
use purlin_raw::{NodeCore, Runnable, Slot};
use purlin_sched::{Hooks, OsPriorities, Scheduler};
use tokio::runtime::Handle;

use crate::node::context::{NodeContext, enter_node, run_worker};
use crate::node::erlang_types::ErlangTypes;
use crate::node::handle::Inner;
use crate::node::stalled;

/// Context of the node's threads.
pub(crate) struct Workers {
    pub(crate) node_core: NodeCore<ErlangTypes>,
    pub(crate) node: Weak<Inner>,
    pub(crate) scheduler: Scheduler,
    pub(crate) tokio: Handle,
    pub(crate) priorities: OsPriorities,
}

impl Workers {
    /// Binds this thread to the node and calls `run`. The thread is not a worker yet.
    pub(crate) fn enter(&self, worker: usize, run: impl FnOnce()) {
        self.node_core.enter(|| {
            enter_node(|| self.context(worker));
            let _tokio = self.tokio.enter();
            run();
        });
    }

    fn context(&self, worker: usize) -> NodeContext {
        let timers = self.scheduler.timers().wheel(worker).clone();
        NodeContext {
            node_core: self.node_core.clone(),
            node: self.node.clone(),
            timers,
            worker: Cell::new(false),
            numbers: Cell::new(0),
        }
    }
}

impl Hooks for Workers {
    fn os_priorities(&self) -> OsPriorities {
        self.priorities
    }

    fn thread(&self, worker: usize, run: &mut dyn FnMut()) {
        self.enter(worker, || run_worker(run));
    }

    fn offload(&self, runnable: Runnable) {
        // WHY: the timers of the first worker, because those of any worker would do.
        let (here, scheduler) = (self.context(0), self.scheduler.clone());
        self.tokio.spawn_blocking(move || {
            enter_node(|| here);
            scheduler.run_detached_turn(runnable);
        });
    }

    fn stalled(&self, slot: Slot, since: Instant) {
        stalled::report(&self.node_core, slot, since);
    }

    fn stall_ended(&self, slot: Slot, time: Duration) {
        stalled::report_end(&self.node_core, slot, time);
    }

    fn threads_exhausted(&self, why: &str) {
        let node = &self.node_core.state().name;
        contain(|| tracing::error!(node, why, "processes wait behind others that do not await"));
    }
}
