//! Two processes that now and then call each other at the same time, and then wait for each other.
//!
//! Each answers only when it is not waiting itself, as a server does whose handler calls. The calls end by
//! their timeout, and all is well until the next time.

use std::time::Duration;

use purlin::{Process, Reply, whereis};
use tokio::time::{interval, sleep};

use super::Fallible;

/// How often the auditor asks both for a price.
const TICK: Duration = Duration::from_secs(1);
/// Every so many times it has them ask each other instead.
const DISPUTE: u32 = 30;
/// How long they wait for each other: long enough to be seen by whoever looks once a second.
const PATIENCE: Duration = Duration::from_secs(6);
/// How long they take before they ask, so that both have been told to by then.
const THOUGHT: Duration = Duration::from_millis(50);

pub(super) enum Ask {
    Price(Reply<u32>),
    /// Ask the other one for a price.
    Dispute,
}

pub(super) async fn department(
    mut me: Process<Ask>,
    name: &'static str,
    other: &'static str,
) -> Fallible {
    me.register(name)?;
    loop {
        match me.receive().await {
            Ask::Price(reply) => reply.send(42),
            Ask::Dispute => {
                sleep(THOUGHT).await;
                // It has no answer, which is what this is about.
                let _ = whereis(other)?.call_timeout(Ask::Price, PATIENCE).await;
            }
        }
    }
}

pub(super) async fn auditor(me: Process<()>) -> Fallible {
    me.register("auditor")?;
    let mut ticks = interval(TICK);
    for tick in 1_u32.. {
        ticks.tick().await;
        for name in ["billing", "stock"] {
            let department = whereis::<Ask>(name)?;
            if tick % DISPUTE == 0 {
                department.send(Ask::Dispute);
            } else {
                // While they quarrel it waits for them too, in vain.
                let _ = department.call_timeout(Ask::Price, TICK).await;
            }
        }
    }
    Ok(())
}
