//! Ack servers: `ack-request-reply` to `ack-best`.

use std::net::{Ipv4Addr, SocketAddr};

use purlin::{ExitReason, Node, Pid, Process, spawn};
use purlin_ack::frames::Frame;
use purlin_ack::handler::{HandedBatch, ToProcess};
use purlin_ack::server::{Limits, Server};
use purlin_ack::strategy::{Strategy, UnknownStrategy};
use purlin_contender::{Running, Serve};

/// Starts a server. If a number of cores is requested, it runs on a separate node.
pub(crate) fn start(node: &Node, asked: Serve) -> Result<Running, String> {
    let strategy: Strategy =
        asked.strategy.parse().map_err(|error: UnknownStrategy| error.to_string())?;
    let own = asked.cores.map(of_cores).transpose()?;
    let on = own.as_ref().unwrap_or(node).clone();
    let (there, anywhere) = (on.clone(), SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let (started, taker) = on.block_on(async move |_: Process<()>| {
        // All connections of the load come from one address.
        let limits = Limits { per_address: usize::MAX, ..Limits::default() };
        let server = Server::builder(anywhere).strategy(strategy).limits(limits);
        if !asked.each {
            return (server.start(&there).await, None);
        }
        let taker: Pid<HandedBatch> = spawn(taker);
        let to = taker.clone();
        (server.handler(move |_| ToProcess::new(to.clone())).start(&there).await, Some(taker))
    });
    let server = started.map_err(|error| error.to_string())?;
    Ok(Running::new(server.local_addr(), move || {
        let counts = on.block_on(async move |_: Process<()>| {
            let counts = server.drain().await;
            if let Some(taker) = taker {
                taker.exit(ExitReason::Shutdown);
            }
            counts
        });
        if let Some(own) = own {
            own.stop_blocking();
        }
        Ok(counts.messages)
    }))
}

/// Receives blocks and calls [`take`] for each message.
async fn taker(mut me: Process<HandedBatch>) {
    let mut sum = 0;
    loop {
        let mut handed = me.receive().await;
        if !handed.begin() {
            continue;
        }
        handed.block.frames().for_each(|frame| take(&frame, &mut sum));
        handed.done();
    }
}

/// Placeholder for a user's function: reads the message and updates a state.
#[inline(never)]
fn take(frame: &Frame<'_>, sum: &mut u64) {
    *sum = sum.wrapping_add(frame.id.number()).wrapping_add(frame.payload.len() as u64);
}

/// Starts a node with this number of workers.
fn of_cores(cores: u64) -> Result<Node, String> {
    let workers = usize::try_from(cores).map_err(|error| error.to_string())?;
    let node = Node::builder().workers(workers).build();
    node.map_err(|error| format!("the node cannot be started: {error}"))
}
