//! A node in virtual time.
//!
//! For the thread of a test; nothing happens in a simulation while that thread does not wait for it.

use std::fmt;
use std::future::Future;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use purlin::simulated::{Halted, Simulated};
use purlin::{Builder, ExitReason, Node, Process, ProcessInfo, StopReport};

/// A node in virtual time, whose choices are repeated by its seed.
///
/// It runs while the test waits in [`run`](Simulation::run), [`advance`](Simulation::advance) or
/// [`stop`](Simulation::stop), and stands still in between. All of its processes run on one thread,
/// one turn at a time; when nobody is ready the clock moves to the next timer.
///
/// # Which clocks are virtual
///
/// Those that processes wait by: `after` in a receive, the timeout of a call, `send_after` and
/// `send_interval`, [`Node::uptime`], exact to the nanosecond; and `tokio::time`, which counts in
/// whole milliseconds. `std::time::Instant` is the machine's, and sockets answer in the machine's
/// time: see [`hold`](Simulation::hold).
///
/// # What repeats a run
///
/// The same seed and the same program make the same choices. What brings in choices of its own breaks
/// that: other threads (`spawn_blocking`, a [`hold`](Simulation::hold)), the order of a `HashMap`,
/// and `tokio::select!` unless it is `biased`.
///
/// Two simulations of one seed give out the same ids and references, so that processes of the one
/// must not get to know those of the other: they would be taken for one another.
///
/// A process that does not await for long holds up the simulation, and one that is ready again and
/// again, as with `yield_now` in a loop, keeps time from passing.
///
/// Dropping it stops the node. It belongs to a plain thread, such as a test's: in an `async` function
/// tokio refuses to drop a runtime.
#[derive(Debug)]
pub struct Simulation {
    seed: u64,
    simulated: Simulated,
    holds: Vec<Sender<()>>,
}

/// Why a simulation did not come to the end of a function.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The process ended without a result: it panicked, or was told to end.
    Ended {
        /// Why it ended.
        reason: ExitReason,
        /// The seed that repeats it.
        seed: u64,
    },
    /// Nothing will ever happen again: nobody is ready and no timer is set.
    Deadlock {
        /// Who waits.
        waiting: Vec<ProcessInfo>,
        /// The seed that repeats it.
        seed: u64,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seed = match self {
            Self::Ended { reason, seed } => {
                write!(f, "the process that was waited for ended: {reason}")?;
                seed
            }
            Self::Deadlock { waiting, seed } => {
                f.write_str("deadlock: nobody is ready and no timer is set; these wait:")?;
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

/// Keeps a simulation's clock from moving; see [`Simulation::hold`].
#[derive(Debug)]
#[must_use = "the clock moves again when this is dropped"]
pub struct Hold {
    release: Sender<()>,
}

impl Drop for Hold {
    fn drop(&mut self) {
        // The simulation may have released it before.
        let _ = self.release.send(());
    }
}

impl Simulation {
    /// A node in virtual time.
    ///
    /// # Panics
    /// If the operating system refuses what a tokio runtime needs.
    pub fn new(seed: u64) -> Self {
        Self::with(seed, Node::builder())
    }

    /// [`Simulation::new`] with settings of the node's; it has one worker whatever they say.
    ///
    /// # Panics
    /// If a setting makes no sense, or the operating system refuses what a tokio runtime needs.
    #[track_caller]
    pub fn with(seed: u64, settings: Builder) -> Self {
        let tokio = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap_or_else(|error| panic!("no tokio runtime for a simulation: {error}"));
        let simulated = settings.simulated(seed, tokio);
        let simulated = simulated.unwrap_or_else(|error| panic!("{error}"));
        Self { seed, simulated, holds: Vec::new() }
    }

    /// The seed.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// The node: to spawn on, to look at, to set timers with, while nothing happens.
    ///
    /// [`Node::block_on`] would wait for ever on the test's thread; use [`Simulation::run`].
    pub fn node(&self) -> &Node {
        self.simulated.node()
    }

    /// The virtual time since the beginning. In a process [`Node::uptime`] says the same.
    pub fn now(&self) -> Duration {
        self.node().uptime()
    }

    /// Runs a process to its end, and all others meanwhile, and returns what its function returned.
    /// The others stand still from then on, until the next run.
    ///
    /// # Panics
    /// As [`Simulation::try_run`] fails, with the seed.
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

    /// [`Simulation::run`], but says why there is no result.
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
    /// The process panicked or was told to end; or nobody is ready, no timer is set, neither purlin's
    /// nor tokio's, and no [`hold`](Simulation::hold) says that somebody outside will go on. A process
    /// that sets timers for ever is not found out.
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

    /// Lets so much time pass: everything that is due by then happens, in order and at its own time.
    /// No time at all runs who is ready.
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
    pub fn advance(&mut self, time: Duration) {
        self.simulated.advance(time);
    }

    /// Keeps the clock from moving by itself, for as long as the hold is kept: somebody outside, say
    /// a thread or the other end of a socket, is going to do something. Nobody calls that a deadlock.
    /// Stopping or dropping the simulation ends the hold; [`advance`](Simulation::advance) waits for
    /// its end.
    ///
    /// A task of `tokio::task::spawn_blocking` and a turn of [`purlin::spawn_blocking()`] hold the
    /// clock in the same way while they run.
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
        // WHY: while a blocking task is under way tokio does not move its clock.
        self.simulated.tokio().spawn_blocking(move || released.recv());
        self.holds.push(release.clone());
        Hold { release }
    }

    /// Stops the node as [`Node::stop`] does, in virtual time: a process that makes use of its grace
    /// period costs no real time.
    pub fn stop(mut self) -> StopReport {
        self.release();
        self.simulated.stop()
    }

    /// Ends all holds.
    fn release(&mut self) {
        for hold in self.holds.drain(..) {
            // One that was dropped has been released.
            let _ = hold.send(());
        }
    }
}

impl Drop for Simulation {
    fn drop(&mut self) {
        self.release();
    }
}
