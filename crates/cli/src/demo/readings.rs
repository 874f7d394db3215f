//! An ack server, and a client with a moderate load.
//!
//! The server passes messages to the pool, so an ack means that a worker has processed them. The client's rate varies
//! periodically, so that the charts change.

use std::f64::consts::TAU;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use purlin::supervisor::SupervisorSpec;
use purlin::{ExitReason, Process};
use purlin_ack::client::Client;
use purlin_ack::handler::{Batch, Handler, Unhandled};
use purlin_ack::server::{Door, Server};
use purlin_ack::session::Level;
use purlin_lab::error::Problem;
use tokio::time::interval;

use super::{Fallible, pool};
use crate::output::problem;

/// Send interval.
const TICK: Duration = Duration::from_millis(100);
/// Mean number of messages per interval: a few hundred per second, which costs next to nothing.
const BURST: f64 = 40.0;
/// Period of the load.
const WAVE: Duration = Duration::from_secs(30);

/// Returns the server, which is already listening.
pub(super) fn server() -> Result<(SupervisorSpec, Door), Problem> {
    let any_port = (Ipv4Addr::LOCALHOST, 0).into();
    let builder = Server::builder(any_port).acceptors(2).handler(|_| ToPool(0));
    Ok(builder.listen().map_err(problem)?.into_parts())
}

/// Passes each batch to a worker. The number counts the batches.
struct ToPool(usize);

impl Handler for ToPool {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        self.0 = self.0.wrapping_add(1);
        let text = |payload: &[u8]| String::from_utf8_lossy(payload).into_owned();
        let numbers = batch.frames().map(|frame| text(frame.payload)).collect();
        // While a worker is being restarted the batch fails, and the client resends it.
        let done = pool::ask(self.0, numbers).await;
        done.map(drop).map_err(|error| Unhandled::Failed(ExitReason::error(error)))
    }
}

/// Sends readings to the server.
pub(super) async fn meter(me: Process<()>, server: SocketAddr) -> Fallible {
    me.register("meter")?;
    let client = Client::builder(server).session(Level::Handled).connect().await?;
    let mut ticks = interval(TICK);
    for tick in 0_u32.. {
        ticks.tick().await;
        let phase = f64::from(tick) * TICK.as_secs_f64() / WAVE.as_secs_f64();
        let burst = BURST * (1.0 + (TAU * phase).sin());
        for reading in 0..burst as u32 {
            client.send(reading.to_string().as_bytes()).await?;
        }
    }
    Ok(())
}
