//! Servers that acknowledge: `ack-request-reply` to `ack-best`.

use std::net::{Ipv4Addr, SocketAddr};

use purlin::{Node, Process};
use purlin_ack::server::Server;
use purlin_ack::strategy::{Strategy, UnknownStrategy};
use purlin_contender::{Running, Serve};

/// Starts a server, on a node of its own if it is to have a number of cores.
pub(crate) fn start(node: &Node, asked: Serve) -> Result<Running, String> {
    let strategy: Strategy =
        asked.strategy.name().parse().map_err(|error: UnknownStrategy| error.to_string())?;
    let own = asked.cores.map(of_cores).transpose()?;
    let on = own.as_ref().unwrap_or(node).clone();
    let (there, anywhere) = (on.clone(), SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let started = on.block_on(async move |_: Process<()>| {
        Server::builder(anywhere).strategy(strategy).start(&there).await
    });
    let server = started.map_err(|error| error.to_string())?;
    Ok(Running::new(server.local_addr(), move || {
        let counts = on.block_on(async move |_: Process<()>| server.drain().await);
        if let Some(own) = own {
            own.stop_blocking();
        }
        Ok(counts.messages)
    }))
}

/// A node with this number of workers.
fn of_cores(cores: u64) -> Result<Node, String> {
    let workers = usize::try_from(cores).map_err(|error| error.to_string())?;
    let node = Node::builder().workers(workers).build();
    node.map_err(|error| format!("the node cannot be started: {error}"))
}
