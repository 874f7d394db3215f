//! An ack server, and a client that loads it gently.
//!
//! The server has the pool work on what comes, so an ack says that a worker has done it. The client sends
//! now more and now less, so that there is something to see.

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

use super::{Fallible, pool, problem};

/// How often the client sends.
const TICK: Duration = Duration::from_millis(100);
/// How many messages it sends then on average: a few hundred a second, which costs next to nothing.
const BURST: f64 = 40.0;
/// From one time of many messages to the next.
const WAVE: Duration = Duration::from_secs(30);

/// The server, listening already.
pub(super) fn server() -> Result<(SupervisorSpec, Door), Problem> {
    let any_port = (Ipv4Addr::LOCALHOST, 0).into();
    let builder = Server::builder(any_port).acceptors(2).handler(|_| ToPool(0));
    Ok(builder.listen().map_err(problem)?.into_parts())
}

/// Hands each batch to a worker; the number is that of the batch.
struct ToPool(usize);

impl Handler for ToPool {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        self.0 = self.0.wrapping_add(1);
        let text = |payload: &[u8]| String::from_utf8_lossy(payload).into_owned();
        let numbers = batch.frames().map(|frame| text(frame.payload)).collect();
        // One that is being restarted has the batch fail, and the client sends it again.
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
