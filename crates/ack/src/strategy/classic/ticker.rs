//! Ticker: acknowledges for throttle and head-rest, every 5 ms.
//!
//! It asks the collector to reply once an ack is pending, sleeps for the tick, takes the acks
//! pending by then, and writes them; an idle connection causes no ticks. It ends with the
//! collector, and with the connection process even in the middle of a write. It ignores exit signals
//! of other processes, so that during a shutdown of the node everything read is still acknowledged.

use std::sync::Arc;
use std::time::Duration;

use purlin::{Exit, ExitReason, Pid, Process, ProcessId};

use super::collector::Collect;
use super::helper::{found, write_all};
use crate::connection::shared::Shared;
use crate::connection::socket::Socket;
use crate::connection::timeout::sleep;
use crate::strategy::handle_batch::next_ack;

/// Time between the first pending message and its ack.
const TICK: Duration = Duration::from_millis(5);

pub(super) async fn ticker(
    mut me: Process<Exit>,
    socket: Socket,
    collector: Pid<Collect>,
    parent: ProcessId,
    shared: Arc<Shared>,
) -> ExitReason {
    loop {
        let Ok(more) = collector.call_timeout(Collect::Due, Duration::MAX).await else {
            return ExitReason::Normal;
        };
        if more {
            sleep(&mut me, TICK).await;
        }
        let Ok((mut pending, since)) = collector.call_timeout(Collect::Take, Duration::MAX).await
        else {
            return ExitReason::Normal;
        };
        while let Some(ack) = next_ack(&mut pending, &shared.counters) {
            let left = |exit: &Exit| exit.from == Some(parent);
            let written = write_all(&mut me, &socket, &ack, shared.idle_timeout, left).await;
            if let Err(end) = written {
                return found(end);
            }
            shared.counters.latencies.acked(since);
        }
        if !more {
            return ExitReason::Normal;
        }
    }
}
