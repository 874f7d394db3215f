//! Workers, one of which crashes periodically, and the process that sends them work.
//!
//! A worker adds up numbers that it receives as text. Text that is not a number makes it fail, and its supervisor
//! restarts it.

use std::time::Duration;

use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin::{Process, Reply, whereis};
use tokio::time::interval;

use super::Fallible;

const WORKERS: usize = 4;
/// Interval between jobs.
const TICK: Duration = Duration::from_millis(50);
/// Every job with this number is faulty, as its last text is not a number: one in eight seconds.
const FAULTY: usize = 160;
/// Allowed restarts per minute, far above the actual seven or eight: no restart storm.
const INTENSITY: usize = 15;
const PERIOD: Duration = Duration::from_secs(60);

/// A request for the sum of these numbers.
pub(super) struct Sum(Vec<String>, Reply<u64>);

/// Returns the supervisor of the workers.
pub(super) fn workers() -> SupervisorSpec {
    let pool = SupervisorSpec::one_for_one().name("pool").intensity(INTENSITY).period(PERIOD);
    (0..WORKERS).map(name).fold(pool, |pool, name| {
        pool.child(ChildSpec::worker(name.clone(), move |me| worker(me, name)))
    })
}

/// Returns the name of the worker for this turn.
fn name(turn: usize) -> String {
    format!("worker-{}", turn % WORKERS)
}

async fn worker(mut me: Process<Sum>, name: String) -> Fallible {
    me.register(&name)?;
    loop {
        let Sum(numbers, reply) = me.receive().await;
        let numbers = numbers.iter().map(|text| text.parse::<u64>());
        reply.send(numbers.sum::<Result<_, _>>()?);
    }
}

/// Sends a job to the worker for this turn.
///
/// # Errors
/// Returns an error if the worker has crashed or is being restarted.
pub(super) async fn ask(
    turn: usize,
    numbers: Vec<String>,
) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
    let worker = whereis::<Sum>(&name(turn))?;
    Ok(worker.call(|reply| Sum(numbers, reply)).await?)
}

/// Sends jobs to the workers, some of them faulty.
pub(super) async fn clerk(me: Process<()>) -> Fallible {
    me.register("clerk")?;
    let mut ticks = interval(TICK);
    for turn in 1_usize.. {
        ticks.tick().await;
        let last = if turn % FAULTY == 0 { "many" } else { "3" };
        let numbers = ["1", "2", last].map(str::to_owned);
        // The supervisor handles the crash.
        let _ = ask(turn, numbers.into()).await;
    }
    Ok(())
}
