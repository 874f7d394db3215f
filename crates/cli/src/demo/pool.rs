//! Workers, of which one crashes now and then, and who has work for them.
//!
//! A worker adds up numbers that it is sent as text. What is no number ends it, and its supervisor starts
//! another.

use std::time::Duration;

use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin::{Process, Reply, whereis};
use tokio::time::interval;

use super::Fallible;

const WORKERS: usize = 4;
/// How often the clerk has work for one of them.
const TICK: Duration = Duration::from_millis(50);
/// Every so many jobs hold something that is no number: one in eight seconds.
const FAULTY: usize = 160;
/// The supervisor expects far more restarts in a minute than there are, which is seven or eight: no storm.
const INTENSITY: usize = 15;
const PERIOD: Duration = Duration::from_secs(60);

/// What a worker is asked: the sum of these.
pub(super) struct Sum(Vec<String>, Reply<u64>);

/// The supervisor of the workers.
pub(super) fn workers() -> SupervisorSpec {
    let pool = SupervisorSpec::one_for_one().name("pool").intensity(INTENSITY).period(PERIOD);
    (0..WORKERS).map(name).fold(pool, |pool, name| {
        pool.child(ChildSpec::worker(name.clone(), move |me| worker(me, name)))
    })
}

/// What the worker is called whose turn it is.
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

/// Asks the worker whose turn it is.
///
/// # Errors
/// It has crashed, or is being restarted.
pub(super) async fn ask(
    turn: usize,
    numbers: Vec<String>,
) -> Result<u64, Box<dyn std::error::Error + Send + Sync>> {
    let worker = whereis::<Sum>(&name(turn))?;
    Ok(worker.call(|reply| Sum(numbers, reply)).await?)
}

/// Has work for the workers, some of which they cannot do.
pub(super) async fn clerk(me: Process<()>) -> Fallible {
    me.register("clerk")?;
    let mut ticks = interval(TICK);
    for turn in 1_usize.. {
        ticks.tick().await;
        let last = if turn % FAULTY == 0 { "many" } else { "3" };
        let numbers = ["1", "2", last].map(str::to_owned);
        // A worker that crashes of it is the supervisor's business.
        let _ = ask(turn, numbers.into()).await;
    }
    Ok(())
}
