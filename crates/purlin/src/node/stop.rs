//! Stop of a node.
//!
//! 1. The node's applications stop in the reverse order of their start, each within its own time.
//!    One that exceeds it is killed and has 500 ms more.
//! 2. No new process starts.
//! 3. Every process is sent `shutdown`, once, and has the grace period to end, also if it traps
//!    exits. After that it is sent `kill` and has 500 ms more.
//! 4. The proxies for remote processes are sent `shutdown` likewise. They forward their remaining
//!    signals, such as the ends of processes, and have the rest of the grace period, or 500 ms
//!    if that is longer.
//! 5. The system processes, such as the connections to other nodes, are stopped in the same way.
//! 6. A process that has not ended by then is inside a poll that does not return. It is named in
//!    the report and left behind with its thread (L7).
//! 7. The node's extensions end.
//! 8. The workers end, then the I/O threads.
//!
//! All times are measured on the node's clock. The clock of a simulated node advances only while
//! the simulation is driven. So its stop is a task of the simulation, and a grace period takes no
//! real time.

use std::collections::HashSet;
use std::future::{Future, poll_fn, ready};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use purlin_raw::NodeCore;
use purlin_sched::{Scheduler, TimerAction, TimerWheel};

use crate::call::request::block_on;
use crate::node::context::is_worker;
use crate::node::erlang_types::{ErlangTypes, Peer};
use crate::node::handle::{Inner, Io};
use crate::process::shared::Shared;
use crate::process::unwind::contain;
use crate::signals::signal::{Signal, send_signal};
use crate::{ExitReason, Node, ProcessInfo, ProcessState, StopReport};

/// Grace period of processes after `shutdown`, as for OTP's workers.
const GRACE: Duration = Duration::from_secs(5);
/// Time for processes to end after `kill`.
const KILL_GRACE: Duration = Duration::from_millis(500);

/// Shortest pause before checking again whether all processes have ended; it doubles up to
/// [`LONGEST_PAUSE`].
const SHORTEST_PAUSE: Duration = Duration::from_micros(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

/// Stops a node; there is at most one per node.
pub(crate) struct Stopper {
    node_core: NodeCore<ErlangTypes>,
    scheduler: Scheduler,
    io: Io,
}

impl Node {
    /// Stops the node (E1). Its applications stop first, in the reverse order of their start, each
    /// within its own time. Then every remaining process is sent `shutdown` and has 5 seconds to
    /// end at its next await; after that it is sent `kill`. A process that still does not end is
    /// named in the report and left behind.
    ///
    /// Later and concurrent calls wait for the same stop and return the same report. A process that
    /// stops its own node ends at this await, and the stop continues.
    ///
    /// *Cancellation*: dropping the future does not cancel the stop.
    pub async fn stop(&self) -> StopReport {
        let mut stopped = self.inner().node_core.state().stopped.subscribe();
        self.begin_stop();
        // The sender is part of the node state, which `self` keeps alive.
        let report = stopped.wait_for(Option::is_some).await;
        report.ok().and_then(|report| report.clone()).unwrap_or_default()
    }

    /// Starts to stop the node, unless a stop is in progress. Does not wait.
    pub(crate) fn begin_stop(&self) {
        if let Some(stopper) = Stopper::begin(self.inner()) {
            stopper.in_background();
        }
    }

    /// [`Node::stop`] for a thread that runs no process: blocks the thread.
    ///
    /// # Panics
    /// Panics on a worker thread, where the process would wait for its own end, and on a simulated
    /// node that is not driven.
    #[track_caller]
    pub fn stop_blocking(&self) -> StopReport {
        assert!(!is_worker(), "blocked on a stop inside a process: await it there");
        let stands_still = self.node_state().stands_still.load(Ordering::Relaxed);
        assert!(!stands_still, "blocked on a simulated node: use Simulation::stop");
        match Stopper::begin(self.inner()) {
            Some(stopper) => stopper.run_here(),
            None => block_on(self.stop()),
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(stopper) = Stopper::begin(self) {
            stopper.in_background();
        }
    }
}

impl Stopper {
    /// Becomes the stopper of the node; returns `None` if there is one already.
    pub(crate) fn begin(inner: &Inner) -> Option<Self> {
        let io = inner.io.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let node_state = inner.node_core.state();
        if !node_state.applications.close() {
            // ORDER: see `try_spawn_on`.
            node_state.stopping.store(true, Ordering::SeqCst);
        }
        Some(Self { node_core: inner.node_core.clone(), scheduler: inner.scheduler.clone(), io })
    }

    /// Stops the node on a new thread, or as a task of the simulation.
    pub(crate) fn in_background(self) {
        if let Io::Simulated(tokio) = &self.io {
            let wheel = self.scheduler.timers().wheel(0).clone();
            tokio.clone().spawn(self.run(move |time| pass(wheel.clone(), time)));
            return;
        }
        let name = format!("{}-stop", self.node_core.state().name);
        let node_core = self.node_core.clone();
        let started = thread::Builder::new().name(name).spawn(move || self.run_here());
        if let Err(error) = started {
            contain(
                || tracing::error!(%error, "no thread to stop the node with; it is left running"),
            );
            node_core.state().stopped.send_replace(Some(StopReport::default()));
        }
    }

    /// Stops the node on this thread.
    fn run_here(self) -> StopReport {
        block_on(self.run(|time| {
            thread::sleep(time);
            ready(())
        }))
    }

    /// Stops the node; `pause` lets time pass on the node's clock.
    async fn run<P: Future<Output = ()>>(self, pause: impl Fn(Duration) -> P) -> StopReport {
        self.stop_applications(&pause).await;
        // ORDER: see `try_spawn_on`.
        self.node_core.state().stopping.store(true, Ordering::SeqCst);
        let clock = self.scheduler.timers().wheel(0).clone();
        let until = clock.now().saturating_add(GRACE);
        let mut ended = true;
        for who in [Selection::Processes, Selection::Proxies, Selection::System] {
            let left = until.saturating_sub(clock.now()).max(KILL_GRACE);
            ended &= self.end_all(who, left, &pause).await;
        }
        let mut report = StopReport::default();
        if !ended {
            let left = self
                .node_core
                .processes()
                .map(|process| ProcessInfo::of(&process, self.node_core.state().name_of(&process)));
            (report.hogs, report.stranded) =
                left.partition(|info| info.state == ProcessState::Running);
        }
        self.node_core.state().extensions.stop();
        for hog in &report.hogs {
            contain(|| {
                tracing::error!(pid = %hog.id, function = hog.function, "process would not end");
            });
        }
        let timeout = if ended { GRACE } else { Duration::ZERO };
        let stopped = self.scheduler.stop(timeout);
        let node = &self.node_core.state().name;
        contain(|| tracing::debug!(?stopped, node, "node stopped"));
        if let Io::Own(tokio) = self.io {
            tokio.stop();
        }
        self.node_core.state().stopped.send_replace(Some(report.clone()));
        report
    }

    /// Stops the applications, which may still spawn processes meanwhile.
    ///
    /// WHY from no process of the node: it may have no room for another one.
    async fn stop_applications<P: Future<Output = ()>>(&self, pause: &impl Fn(Duration) -> P) {
        let applications = &self.node_core.state().applications;
        for application in applications.running().iter().rev() {
            let has_ended = || !application.is_alive();
            application.request_stop();
            if !self.until(application.shutdown, pause, has_ended).await {
                application.kill();
                self.until(KILL_GRACE, pause, has_ended).await;
            }
        }
        applications.forget();
    }

    /// Ends all processes of a class: sends them `shutdown`, and sends `kill` to those that have
    /// not ended in time. Returns `false` if some have not ended then.
    async fn end_all<P: Future<Output = ()>>(
        &self,
        who: Selection,
        timeout: Duration,
        pause: &impl Fn(Duration) -> P,
    ) -> bool {
        let mut ending = Vec::new();
        self.tell_all(who, ExitReason::Shutdown, timeout, &mut ending, pause).await
            || self.tell_all(who, ExitReason::Kill, KILL_GRACE, &mut ending, pause).await
    }

    /// Sends the reason to all processes of a class, and waits until they have ended and have sent
    /// their own exit signals. Returns `false` when the time is up. `ending`: signalled processes
    /// that may still be sending exit signals and are no longer in the table.
    ///
    /// WHY: polls, because a process that was being spawned when the stop began may appear late. A
    /// count of processes, or a notification from each that ends, would cost every process.
    async fn tell_all<P: Future<Output = ()>>(
        &self,
        who: Selection,
        reason: ExitReason,
        timeout: Duration,
        ending: &mut Vec<Peer>,
        pause: &impl Fn(Duration) -> P,
    ) -> bool {
        // WHY: each once, because a process that traps exits receives every signal as a message.
        let mut signalled = HashSet::new();
        let all = || self.node_core.processes().filter(|it| who.has(it.shared()));
        self.until(timeout, pause, || {
            for process in all().filter(|process| signalled.insert(process.slot())) {
                send_signal(&process, Signal::Exit { from: None, reason: reason.clone() });
                ending.push(process);
            }
            ending.retain(|process| !process.is_drained());
            // In this order: a spawn from outside is complete, or is counted here, or sees the
            // stop.
            let none_under_way = self.node_core.state().outside_spawns.load(Ordering::SeqCst) == 0;
            // WHY: checked twice. A process that was spawning when the stop began may end between
            // two checks, and its child may be in a slot that the first check has passed. After
            // that no process spawns.
            let none = || all().next().is_none();
            none_under_way && ending.is_empty() && none() && none()
        })
        .await
    }

    /// Waits until a condition holds. Returns `false` when the time is up.
    async fn until<P: Future<Output = ()>>(
        &self,
        timeout: Duration,
        pause: impl Fn(Duration) -> P,
        mut is_so: impl FnMut() -> bool,
    ) -> bool {
        let clock = self.scheduler.timers().wheel(0);
        let deadline = clock.now().saturating_add(timeout);
        let mut time = SHORTEST_PAUSE;
        loop {
            if is_so() {
                return true;
            }
            if clock.now() >= deadline {
                return false;
            }
            pause(time).await;
            time = (2 * time).min(LONGEST_PAUSE);
        }
    }
}

/// Class of processes, in the order in which a stop ends them.
#[derive(Clone, Copy)]
enum Selection {
    Processes,
    Proxies,
    System,
}

impl Selection {
    fn has(self, process: &Shared) -> bool {
        match self {
            Self::Processes => !process.is_system(),
            Self::Proxies => process.is_proxy(),
            Self::System => process.is_system() && !process.is_proxy(),
        }
    }
}

/// Lets time pass on a node's clock, which may be virtual.
async fn pass(wheel: TimerWheel, time: Duration) {
    let mut timer = None;
    poll_fn(|cx| {
        let set = || wheel.set(time, TimerAction::Wake(cx.waker().clone()));
        timer.get_or_insert_with(set).poll(cx.waker())
    })
    .await;
}

#[cfg(test)]
mod tests;
