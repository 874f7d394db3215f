//! Scheduler hooks of a node: bind threads to it, run blocking turns elsewhere, report processes
//! that do not yield.

use std::cell::Cell;
use std::sync::Weak;
use std::time::{Duration, Instant};

use purlin_raw::{Realm, Runnable, Slot, quietly};
use purlin_sched::{Above, Scheduler};
use tokio::runtime::Handle;

use crate::hog;
use crate::home::{Erlang, Here, settle, work};
use crate::node::Inner;

/// Context of the node's threads.
pub(crate) struct Workers {
    pub(crate) realm: Realm<Erlang>,
    pub(crate) node: Weak<Inner>,
    pub(crate) scheduler: Scheduler,
    pub(crate) tokio: Handle,
}

impl Workers {
    /// Binds this thread to the node and calls `run`. The thread is not a worker yet.
    pub(crate) fn enter(&self, worker: usize, run: impl FnOnce()) {
        let _entered = self.realm.enter();
        settle(|| self.here(worker));
        let _tokio = self.tokio.enter();
        run();
    }

    fn here(&self, worker: usize) -> Here {
        let timers = self.scheduler.timers().wheel(worker).clone();
        Here {
            realm: self.realm.clone(),
            node: self.node.clone(),
            timers,
            worker: Cell::new(false),
            numbers: Cell::new(0),
        }
    }
}

impl Above for Workers {
    fn thread(&self, worker: usize, run: &mut dyn FnMut()) {
        self.enter(worker, || work(run));
    }

    fn offload(&self, runnable: Runnable) {
        // WHY: the timers of the first worker, because those of any worker would do.
        let (here, scheduler) = (self.here(0), self.scheduler.clone());
        self.tokio.spawn_blocking(move || {
            settle(|| here);
            scheduler.run_elsewhere(runnable);
        });
    }

    fn hogging(&self, slot: Slot, since: Instant) {
        hog::report(&self.realm, slot, since);
    }

    fn over(&self, slot: Slot, time: Duration) {
        hog::report_end(&self.realm, slot, time);
    }

    fn helpless(&self, why: &str) {
        let node = &self.realm.home().name;
        quietly(|| tracing::error!(node, why, "processes wait behind others that do not await"));
    }
}
