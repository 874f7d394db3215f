//! Test helpers for waiting that does not depend on the machine's speed: for a condition, and in
//! virtual time.

use std::future::Future;
use std::time::{Duration, Instant};

use crate::common::{HANG, here};
use purlin::{Process, spawn, yield_now};
use purlin_testkit::{Simulation, for_each_seed};

/// One millisecond.
pub(crate) const MS: Duration = Duration::from_millis(1);

/// Yields until a condition holds: [`crate::common::until`] for a process.
pub(crate) async fn comes(what: &str, mut holds: impl FnMut() -> bool) {
    // WHY real time: see `HANG`.
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < HANG, "waited in vain until {what}");
        yield_now().await;
    }
}

/// Runs a process to its end in virtual time, once with each of 20 seeds.
pub(crate) fn simulated<M, F, Fut>(function: F)
where
    M: Send + 'static,
    F: Fn(Process<M>) -> Fut + Clone + Send + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    for_each_seed(20, |seed| Simulation::new(seed).run(function.clone()));
}

/// Waits in a simulation until no other process is runnable.
///
/// Takes one millisecond of virtual time: the clock of a simulation advances only when no process
/// is runnable.
pub(crate) async fn rest() {
    let waits = spawn(async |mut me: Process<()>| me.receive().await);
    waits.send_after(MS, ());
    waits.ended().await;
}

/// Returns the uptime of the node, in virtual time in a simulation.
pub(crate) fn uptime() -> Duration {
    here().uptime()
}
