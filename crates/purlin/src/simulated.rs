//! A node in virtual time, on one thread, with a seed that chooses who runs next. The testkit is built
//! on it.
//!
//! The node is like any other, except that nothing happens while nobody drives it. To drive it takes
//! a thread that lives for that long and is the node's only worker: it runs the scheduler's
//! [`Simulation`] as the main future of a tokio runtime whose clock is paused. That clock is the one
//! behind both: tokio moves it to the next timer when nobody, process or task, is ready, and the
//! simulation moves the node's after it. What tokio does not do while a blocking task is under way,
//! the simulation does not do either.
//!
//! # At rest
//!
//! When nobody is ready and the node has no timer, tokio may still have one. So the main future waits
//! for a year: if that year passes, nothing will ever happen again, and it is taken back.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use purlin_raw::Realm;
use purlin_sched::{Drove, Simulation};
use tokio::runtime::{Handle, Runtime};
use tokio::sync::oneshot;
use tokio::time::{Instant, Sleep, sleep};

use crate::home::{Erlang, work};
use crate::node::Io;
use crate::workers::Workers;
use crate::{BuildError, Builder, ExitReason, Node, Process, ProcessInfo, StopReport};

/// How long nothing must happen to be sure that nothing will.
const LONG: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A node in virtual time.
pub struct Simulated {
    node: Node,
    workers: Workers,
    simulation: Simulation,
    tokio: Runtime,
    /// The moment of tokio's clock at which the node's was 0.
    start: Instant,
}

/// Why a simulation did not get to where it was to go.
#[derive(Clone, Debug)]
pub enum Halted {
    /// The process that was waited for ended without a result.
    Ended(ExitReason),
    /// Nobody is ready, and no timer is set: these processes wait for ever.
    AtRest(Vec<ProcessInfo>),
}

impl Builder {
    /// A simulated node, which has one worker, whatever was set. The runtime is one of tokio's for
    /// the current thread, with its clock paused.
    #[doc(hidden)]
    pub fn simulated(self, seed: u64, tokio: Runtime) -> Result<Simulated, BuildError> {
        self.check()?;
        let simulation = Simulation::new(seed);
        let (scheduler, handle) = (simulation.scheduler().clone(), tokio.handle().clone());
        let io = Io::Simulated(handle.clone());
        // WHY the seed's: references and ids are hashed, and what many are told at an end goes out in
        // that order.
        let creation = seed as u32;
        let (node, workers) = self.assemble(creation, scheduler, io, handle);
        let start = {
            let _tokio = tokio.enter();
            Instant::now()
        };
        Ok(Simulated { node, workers, simulation, tokio, start })
    }
}

impl Simulated {
    /// The node.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Its tokio runtime, which does nothing while nobody drives.
    pub fn tokio(&self) -> &Handle {
        &self.workers.tokio
    }

    /// Drives until a process of this function has ended, and returns its result. If it has the node
    /// stopped, until that is done.
    pub fn run<M, R, F, Fut>(&mut self, function: F) -> Result<R, Halted>
    where
        M: Send + 'static,
        R: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        let (tell, mut told) = oneshot::channel();
        let pid = self.node.spawn(move |me| async move {
            let result = function(me).await;
            // Whoever waits is on this function's stack and cannot have gone.
            let _ = tell.send(result);
        });
        // What comes is taken, and the channel seen to be closed, in the turn in which it happens.
        let (mut result, realm) = (None, self.workers.realm.clone());
        let mut over = || {
            if let Ok(value) = told.try_recv() {
                result = Some(value);
            }
            told.is_terminated() && (!stopping(&realm) || stopped(&realm))
        };
        let halted = self.drive(None, &mut over);
        match (result, halted) {
            (Some(result), _) => Ok(result),
            (None, Ok(())) => Err(Halted::Ended(crate::call::block_on(pid.ended()))),
            (None, Err(at_rest)) => Err(at_rest),
        }
    }

    /// Drives for that long, on the node's clock.
    pub fn advance(&mut self, time: Duration) {
        let until = self.node.uptime().saturating_add(time);
        // It comes to rest at `until` at the latest.
        let _ = self.drive(Some(until), &mut || false);
    }

    /// Stops the node (E1).
    pub fn stop(&mut self) -> StopReport {
        self.node.begin_stop();
        let realm = self.workers.realm.clone();
        let halted = self.drive(None, &mut || stopped(&realm));
        debug_assert!(halted.is_ok(), "a stop looks again and again");
        let report = realm.home().stopped.borrow().clone();
        report.unwrap_or_default()
    }

    fn drive(
        &mut self,
        until: Option<Duration>,
        over: &mut (dyn FnMut() -> bool + Send),
    ) -> Result<(), Halted> {
        let Self { node, workers, simulation, tokio, start } = self;
        let mut drive = Drive { workers, simulation, start, until, over };
        let mut reached = Reached::Rest;
        // WHY a thread each time: one is a node's for all its life, and this is somebody's.
        thread::scope(|scope| {
            let run = || {
                workers.enter(0, || reached = tokio.block_on(drive.run()));
            };
            let name = format!("{}-simulated", node.name());
            let driven = thread::Builder::new().name(name).spawn_scoped(scope, run);
            let driven = driven.expect("a thread for the simulation starts").join();
            driven.expect("the simulation itself does not panic");
        });
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
        if !stopped(&self.workers.realm) {
            self.stop();
        }
    }
}

fn stopping(realm: &Realm<Erlang>) -> bool {
    realm.home().stopping.load(Ordering::SeqCst)
}

fn stopped(realm: &Realm<Erlang>) -> bool {
    realm.home().stopped.borrow().is_some()
}

/// One drive, on the thread that lives for it.
struct Drive<'a> {
    workers: &'a Workers,
    simulation: &'a mut Simulation,
    start: &'a mut Instant,
    /// Not beyond that moment.
    until: Option<Duration>,
    over: &'a mut (dyn FnMut() -> bool + Send),
}

/// Where a drive ended.
enum Reached {
    There,
    Rest,
}

impl Drive<'_> {
    async fn run(&mut self) -> Reached {
        let mut alarm = pin!(sleep(Duration::ZERO));
        let mut rest = None;
        // WHY unconstrained: a turn must not find the budget that tokio gives to the whole drive used
        // up by others.
        let drive = poll_fn(|cx| self.poll(cx, alarm.as_mut(), &mut rest));
        tokio::task::unconstrained(drive).await
    }

    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        mut alarm: Pin<&mut Sleep>,
        quiet_since: &mut Option<Instant>,
    ) -> Poll<Reached> {
        let quiet = quiet_since.take().map(|since| since.elapsed()).filter(|&time| time >= LONG);
        *self.start += quiet.unwrap_or_default();
        loop {
            let now = self.start.elapsed();
            let until = self.until.map_or(now, |until| until.min(now));
            let drive = || self.simulation.drive(until, self.workers, cx.waker(), self.over);
            match work(drive) {
                Drove::There => return Poll::Ready(Reached::There),
                Drove::More => {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Drove::Idle(_) if self.until == Some(until) => {
                    self.simulation.set_clock(until);
                    return Poll::Ready(Reached::There);
                }
                Drove::Idle(next) => {
                    let next = next.into_iter().chain(self.until).min();
                    if quiet.is_some() && next.is_none() {
                        return Poll::Ready(Reached::Rest);
                    }
                    *quiet_since = next.is_none().then(Instant::now);
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
