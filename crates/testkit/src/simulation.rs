//! Node in virtual time.
//!
//! A simulation runs only while the test's thread waits for it.

use std::fmt;
use std::future::Future;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use purlin::simulated::{Halted, Simulated};
use purlin::{Builder, ExitReason, Node, Process, ProcessInfo, StopReport};

/// A node in virtual time, whose scheduling choices are reproduced by its seed.
///
/// It runs while the test waits in [`run`](Simulation::run), [`advance`](Simulation::advance) or
/// [`stop`](Simulation::stop), and stands still in between. All of its processes run on one thread,
/// one turn at a time; when no process is ready, the clock jumps to the next timer.
///
/// # Which clocks are virtual
///
/// The timeouts of processes are virtual and exact to the nanosecond: `after` in a receive, the
/// timeout of a call, `send_after`, `send_interval` and [`Node::uptime`]. So is `tokio::time`,
/// which counts in whole milliseconds and ends a longer sleep or timeout, even of `Duration::MAX`,
/// after 30 years. `std::time::Instant` is the system clock, and sockets work in real time: see
/// [`hold`](Simulation::hold).
///
/// # Reproducibility
///
/// The same seed and the same program make the same choices, unless the program has other sources
/// of nondeterminism: other threads (`spawn_blocking`, a [`hold`](Simulation::hold)), the order of
/// a `HashMap`, and `tokio::select!` unless it is `biased`.
///
/// Two simulations with one seed assign the same ids and references. Do not pass pids or references
/// from one to the other: they would be mistaken for each other's.
///
/// A process that does not await stalls the simulation. A process that is always ready, for example
/// one that calls `yield_now` in a loop, keeps time from passing.
///
/// Dropping a simulation stops its node. Drop it on a plain thread, such as a test's: tokio refuses
/// to drop a runtime in an `async` function.
#[derive(Debug)]
pub struct Simulation {
    seed: u64,
    simulated: Simulated,
    holds: Vec<Sender<()>>,
}

/// Error of [`Simulation::try_run`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The process ended without a result: it panicked or received an exit signal.
    Ended {
        /// Exit reason of the process.
        reason: ExitReason,
        /// Seed that reproduces the failure.
        seed: u64,
    },
    /// No process is ready and no timer is set, so nothing can ever happen again.
    Deadlock {
        /// The waiting processes.
        waiting: Vec<ProcessInfo>,
        /// Seed that reproduces the failure.
        seed: u64,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seed = match self {
            Self::Ended { reason, seed } => {
                write!(f, "the process ended without a result: {reason}")?;
                seed
            }
            Self::Deadlock { waiting, seed } => {
                f.write_str("deadlock: no process is ready and no timer is set; waiting:")?;
                for one in waiting {
                    write!(f, "\n  {} {:?}, {}", one.id, one.state, one.function)?;
                }
                seed
            }
        };
        write!(f, "\nwith seed {seed}; {}={seed} repeats it", crate::seeds::VARIABLE)
    }
}

impl std::error::Error for Failure {}

/// Guard that keeps the clock of a simulation from moving; see [`Simulation::hold`].
#[derive(Debug)]
#[must_use = "the clock moves again when this is dropped"]
pub struct Hold {
    release: Sender<()>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        // The simulation may have ended the hold already.
        let _ = self.release.send(());
    }
}

impl Simulation {
    /// Creates a node in virtual time.
    ///
    /// # Panics
    /// Panics if the operating system refuses the resources of a tokio runtime.
    pub fn new(seed: u64) -> Self {
        Self::with(seed, Node::builder())
    }

    /// Like [`Simulation::new`], with settings of the node. The node has one worker whatever they
    /// are.
    ///
    /// # Panics
    /// Panics if a setting is invalid, or the operating system refuses the resources of a tokio
    /// runtime.
    #[track_caller]
    pub fn with(seed: u64, settings: Builder) -> Self {
        let mut tokio = tokio::runtime::Builder::new_current_thread();
        let simulated = settings.simulated(seed, tokio.enable_all().start_paused(true));
        let simulated = simulated.unwrap_or_else(|error| panic!("{error}"));
        Self { seed, simulated, holds: Vec::new() }
    }

    /// Returns the seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns the node, to spawn processes, inspect it and set timers while the simulation stands
    /// still.
    ///
    /// [`Node::block_on`] and [`Node::stop_blocking`] panic, because the node does not run while they
    /// wait; use [`Simulation::run`] and [`Simulation::stop`].
    pub fn node(&self) -> &Node {
        self.simulated.node()
    }

    /// Returns the virtual time since the start, which [`Node::uptime`] returns in a process.
    pub fn now(&self) -> Duration {
        self.node().uptime()
    }

    /// Runs a process to its end, and all others meanwhile. Returns the result of its function. The
    /// other processes then stand still until the next run.
    ///
    /// # Panics
    /// Panics with the seed where [`Simulation::try_run`] returns an error.
    #[track_caller]
    pub fn run<M, R, F, Fut>(&mut self, function: F) -> R
    where
        M: Send + 'static,
        R: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        self.try_run(function).unwrap_or_else(|failure| panic!("{failure}"))
    }

    /// Like [`Simulation::run`], but returns an error if there is no result.
    ///
    /// ```
    /// use purlin::Process;
    /// use purlin_testkit::{Failure, Simulation};
    ///
    /// let mut simulation = Simulation::new(7);
    /// let waits = simulation.try_run(async |mut me: Process<()>| me.receive().await);
    /// assert!(matches!(waits, Err(Failure::Deadlock { waiting, .. }) if waiting.len() == 1));
    /// ```
    ///
    /// # Errors
    /// Returns [`Failure::Ended`] if the process panicked or received an exit signal. Returns
    /// [`Failure::Deadlock`] if no process is ready, neither purlin nor tokio has a timer, and no
    /// [`hold`](Simulation::hold) is active. A process that sets timers forever is not detected.
    pub fn try_run<M, R, F, Fut>(&mut self, function: F) -> Result<R, Failure>
    where
        M: Send + 'static,
        R: Send + 'static,
        F: FnOnce(Process<M>) -> Fut + Send + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        let seed = self.seed;
        self.simulated.run(function).map_err(|halted| match halted {
            Halted::Ended(reason) => Failure::Ended { reason, seed },
            Halted::AtRest(waiting) => Failure::Deadlock { waiting, seed },
        })
    }

    /// Advances the clock by `time`: everything due by then happens, in order and at its own time.
    /// With a duration of zero, ready processes and tasks of tokio run. Blocking work that begins at
    /// the end of that time is not waited for.
    ///
    /// ```
    /// use std::time::Duration;
    /// use purlin::Process;
    /// use purlin_testkit::Simulation;
    ///
    /// let mut simulation = Simulation::new(0);
    /// let day = Duration::from_secs(86_400);
    /// let pid = simulation.node().spawn(async |mut me: Process<u8>| {
    ///     assert_eq!(me.receive().await, 1);
    /// });
    /// simulation.node().send_after(&pid, day, 1);
    /// simulation.advance(day - Duration::from_nanos(1));
    /// assert_eq!(simulation.node().processes().len(), 1);
    /// simulation.advance(Duration::from_nanos(1));
    /// assert!(simulation.node().processes().is_empty());
    /// ```
    ///
    /// # Panics
    /// Panics if the clock would count more than 146 years.
    #[track_caller]
    pub fn advance(&mut self, time: Duration) {
        self.simulated.advance(time);
    }

    /// Stops the clock from jumping until the returned guard is dropped, because something outside
    /// of the simulation, for example a thread or the peer of a socket, is going to act. During a
    /// hold there is no deadlock detection. Stopping or dropping the simulation ends the hold;
    /// [`advance`](Simulation::advance) waits for its end before it moves the clock.
    ///
    /// A task of `tokio::task::spawn_blocking` and a turn of a process that was spawned with
    /// [`purlin::SpawnOptions::blocking`] hold the clock in the same way while they run.
    ///
    /// ```
    /// use purlin::Process;
    /// use purlin_testkit::Simulation;
    ///
    /// let mut simulation = Simulation::new(0);
    /// let hold = simulation.hold();
    /// simulation.run(async move |mut me: Process<u8>| {
    ///     let pid = me.pid();
    ///     std::thread::spawn(move || pid.send(7));
    ///     assert_eq!(me.receive().await, 7);
    ///     drop(hold);
    /// });
    /// ```
    pub fn hold(&mut self) -> Hold {
        let (release, released) = channel();
        // WHY: tokio does not advance its clock while a blocking task runs.
        self.simulated.tokio().spawn_blocking(move || released.recv());
        self.holds.push(release.clone());
        Hold { release }
    }

    /// Stops the node as [`Node::stop`] does, in virtual time: the grace period of a process takes
    /// no real time.
    pub fn stop(mut self) -> StopReport {
        self.release();
        self.simulated.stop()
    }

    /// Ends all holds.
    fn release(&mut self) {
        for hold in self.holds.drain(..) {
            // A guard that was dropped has already ended its hold.
            let _ = hold.send(());
        }
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        self.release();
    }
}
