//! Simulated node: virtual time, one thread, and a seed that decides the schedule. Basis of the
//! testkit.
//!
//! The node is like any other, except that it runs only while it is driven. A drive takes a thread
//! that lives for the drive and is the node's only worker: it runs the scheduler's [`Simulation`]
//! as the main future of a tokio runtime whose clock is paused. That clock drives both: tokio
//! advances it to the next timer when no process and no task is ready, and the simulation advances
//! the node's clock to the same time. tokio does not advance its clock while a blocking task is
//! under way, so neither does the simulation.
//!
//! # At rest
//!
//! When no process or task is ready and the node has no timer, tokio may still have one. So the
//! main future waits for `LONG`, longer than any of its sleeps lasts. If that time passes, no event can
//! follow, and it is subtracted from the node's clock.
//!
//! A drive with a time limit ends when no task of tokio is ready either, because a task that is due
//! at the limit may have more to do. tokio tells it before it parks the thread (`TasksDone`).

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use purlin_raw::NodeCore;
use purlin_sched::{DriveOutcome, Simulation};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep};

use crate::node::context::run_worker;
use crate::node::erlang_types::ErlangTypes;
use crate::node::handle::Io;
use crate::node::workers::Workers;
use crate::{BuildError, Builder, ExitReason, Node, Process, ProcessInfo, StopReport};

/// Virtual time without an event after which no event can follow: 31 years. A sleep of tokio lasts
/// 30 years at most.
const LONG: Duration = Duration::from_secs(31 * 365 * 24 * 60 * 60);

/// A node in virtual time.
pub struct Simulated {
    node: Node,
    workers: Workers,
    simulation: Simulation,
    tokio: Runtime,
    tasks_done: Arc<TasksDone>,
    /// Time of tokio's clock at which the node's clock was 0.
    start: Instant,
}

/// Reason why a simulation stopped early.
#[derive(Clone, Debug)]
pub enum Halted {
    /// The process whose result was awaited ended without one.
    Ended(ExitReason),
    /// No process is ready and no timer is set: these processes wait for ever.
    AtRest(Vec<ProcessInfo>),
}

impl Builder {
    /// Builds a simulated node, which has one worker whatever the settings. `tokio` must build a
    /// current-thread runtime with its clock paused.
    #[doc(hidden)]
    pub fn simulated(
        self,
        seed: u64,
        tokio: &mut tokio::runtime::Builder,
    ) -> Result<Simulated, BuildError> {
        self.check()?;
        let tasks_done = Arc::new(TasksDone::default());
        let parks = Arc::clone(&tasks_done);
        let tokio = tokio.on_thread_park(move || parks.wake()).build().map_err(BuildError::Io)?;
        let simulation = Simulation::new(seed);
        let (scheduler, handle) = (simulation.scheduler().clone(), tokio.handle().clone());
        let io = Io::Simulated(handle.clone());
        // WHY: taken from the seed, because references and ids are hashed, and the signals at the
        // end of a process are sent in the order of the hash table.
        let creation = seed as u32;
        let (node, workers) = self.assemble(creation, scheduler, io, handle);
        node.node_state().stands_still.store(true, Ordering::Relaxed);
        let start = {
            let _tokio = tokio.enter();
            Instant::now()
        };
        Ok(Simulated { node, workers, simulation, tokio, tasks_done, start })
    }
}

impl Simulated {
    /// Returns the node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Returns the node's tokio runtime, which makes no progress unless it is driven.
    pub fn tokio(&self) -> &Handle {
        &self.workers.tokio
    }

    /// Drives until a process with this function has ended, and returns its result. If the process
    /// stops the node, drives until the stop is complete.
    pub fn run<M, R, F, Fut>(&mut self, function: F) -> Result<R, Halted>
    where
        M: Send + 'static,
        R: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        let (tx, mut rx) = oneshot::channel();
        let pid = self.node.spawn(move |me| async move {
            let result = function(me).await;
            // The receiver is on this function's stack, so the send cannot fail.
            let _ = tx.send(result);
        });
        // The turn in which the event happens takes the result and sees that the channel is closed.
        let (mut result, node_core) = (None, self.workers.node_core.clone());
        let mut over = || {
            if let Ok(value) = rx.try_recv() {
                result = Some(value);
            }
            rx.is_terminated() && (!stopping(&node_core) || stopped(&node_core))
        };
        let halted = self.drive(None, &mut over);
        match (result, halted) {
            (Some(result), _) => Ok(result),
            (None, Ok(())) => Err(Halted::Ended(crate::call::request::block_on(pid.ended()))),
            (None, Err(at_rest)) => Err(at_rest),
        }
    }

    /// Drives for this time, on the node's clock.
    ///
    /// # Panics
    /// Panics if the clock would pass [`Simulation::END`].
    #[track_caller]
    pub fn advance(&mut self, time: Duration) {
        let until = self.node.uptime().saturating_add(time);
        assert!(until <= Simulation::END, "the clock of a simulation counts at most 146 years");
        // The drive ends at `until` at the latest.
        let _ = self.drive(Some(until), &mut || false);
    }

    /// Stops the node (E1).
    pub fn stop(&mut self) -> StopReport {
        self.node.begin_stop();
        let node_core = self.workers.node_core.clone();
        let halted = self.drive(None, &mut || stopped(&node_core));
        debug_assert!(halted.is_ok(), "a stop looks again and again");
        let report = node_core.state().stopped.borrow().clone();
        report.unwrap_or_default()
    }

    fn drive(
        &mut self,
        until: Option<Duration>,
        over: &mut (dyn FnMut() -> bool + Send),
    ) -> Result<(), Halted> {
        let Self { node, workers, simulation, tokio, tasks_done, start } = self;
        let mut drive = Drive { workers, simulation, tasks_done, start, until, over };
        let mut reached = Reached::Rest;
        let stands_still = &workers.node_core.state().stands_still;
        stands_still.store(false, Ordering::Relaxed);
        // WHY: a new thread each time, because a thread is bound to its node for life, and this
        // thread is the caller's.
        thread::scope(|scope| {
            let run = || {
                workers.enter(0, || reached = tokio.block_on(drive.run()));
            };
            let name = format!("{}-simulated", node.name());
            let driven = thread::Builder::new().name(name).spawn_scoped(scope, run);
            let driven = driven.expect("a thread for the simulation starts").join();
            driven.expect("the simulation itself does not panic");
        });
        stands_still.store(true, Ordering::Relaxed);
        match reached {
            Reached::There => Ok(()),
            Reached::Rest => Err(Halted::AtRest(node.processes())),
        }
    }
}

impl fmt::Debug for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Simulated").field(&self.node).finish()
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        if !stopped(&self.workers.node_core) {
            self.stop();
        }
    }
}

fn stopping(node_core: &NodeCore<ErlangTypes>) -> bool {
    node_core.state().stopping.load(Ordering::SeqCst)
}

fn stopped(node_core: &NodeCore<ErlangTypes>) -> bool {
    node_core.state().stopped.borrow().is_some()
}

/// Tells a drive that no task of tokio is ready.
#[derive(Debug, Default)]
struct TasksDone {
    done: AtomicBool,
    waits: Mutex<Option<Waker>>,
}

impl TasksDone {
    /// Has the waker woken when no task is ready.
    fn wait(&self, waker: &Waker) {
        *self.waits() = Some(waker.clone());
    }

    /// Wakes the drive that waits. tokio calls it when no task is ready.
    fn wake(&self) {
        if let Some(waker) = self.waits().take() {
            // ORDER: relaxed: the drive runs on this thread.
            self.done.store(true, Ordering::Relaxed);
            waker.wake();
        }
    }

    /// Returns whether no task was ready after the last [`TasksDone::wait`]; once for each.
    fn take(&self) -> bool {
        self.done.swap(false, Ordering::Relaxed)
    }

    fn waits(&self) -> MutexGuard<'_, Option<Waker>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One drive, on the thread that lives for it.
struct Drive<'a> {
    workers: &'a Workers,
    simulation: &'a mut Simulation,
    tasks_done: &'a TasksDone,
    start: &'a mut Instant,
    /// Time limit of the drive.
    until: Option<Duration>,
    over: &'a mut (dyn FnMut() -> bool + Send),
}

/// Outcome of a drive.
enum Reached {
    There,
    Rest,
}

impl Drive<'_> {
    async fn run(&mut self) -> Reached {
        let mut alarm = pin!(sleep(Duration::ZERO));
        let mut rest = None;
        // WHY: unconstrained, because a turn must not find that other turns have used up the budget
        // that tokio gives to the whole drive.
        let drive = poll_fn(|cx| self.poll(cx, alarm.as_mut(), &mut rest));
        tokio::task::unconstrained(drive).await
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        mut alarm: Pin<&mut Sleep>,
        idle_since: &mut Option<Instant>,
    ) -> Poll<Reached> {
        let idle = idle_since.take().map(|since| since.elapsed()).filter(|&time| time >= LONG);
        *self.start += idle.unwrap_or_default();
        let tasks_done = self.tasks_done.take();
        loop {
            let now = self.start.elapsed();
            let until = self.until.map_or(now, |until| until.min(now));
            let drive = || self.simulation.drive(until, self.workers, cx.waker(), self.over);
            match run_worker(drive) {
                DriveOutcome::There => return Poll::Ready(Reached::There),
                DriveOutcome::More => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                DriveOutcome::Idle(_) if self.until == Some(until) => {
                    self.simulation.set_clock(until);
                    if tasks_done {
                        return Poll::Ready(Reached::There);
                    }
                    self.tasks_done.wait(cx.waker());
                    return Poll::Pending;
                }
                DriveOutcome::Idle(next) => {
                    let next = next.into_iter().chain(self.until).min();
                    if idle.is_some() && next.is_none() {
                        return Poll::Ready(Reached::Rest);
                    }
                    *idle_since = next.is_none().then(Instant::now);
                    let longest = now + LONG;
                    alarm.as_mut().reset(*self.start + next.unwrap_or(longest).min(longest));
                    if alarm.as_mut().poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                }
            }
        }
    }
}
