//! Two processes that periodically call each other at the same time, and so deadlock.
//!
//! Each replies only while it is not waiting, like a server whose handler calls. The calls end by their timeout, and
//! both recover until the next time.

use std::time::Duration;

use purlin::{Process, Reply, whereis};
use tokio::time::{interval, sleep};

use super::Fallible;

/// Interval at which the auditor asks both for a price.
const TICK: Duration = Duration::from_secs(1);
/// At every tick with this number the auditor makes them call each other instead.
const DISPUTE: u32 = 30;
/// Timeout of these calls: long enough to appear in a snapshot taken once per second.
const PATIENCE: Duration = Duration::from_secs(6);
/// Delay before the call, so that both have received the request by then.
const THOUGHT: Duration = Duration::from_millis(50);

/// Mailbox of a department.
pub(super) enum Ask {
    Price(Reply<u32>),
    /// Call the other process for a price.
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
                // The call times out, which is the purpose.
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
                // During the deadlock the auditor's calls time out too.
                let _ = department.call_timeout(Ask::Price, TICK).await;
            }
        }
    }
    Ok(())
}
