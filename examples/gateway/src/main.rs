//! `gateway`: a TCP service whose connections are processes that call a server of an Erlang node. README.md shows its
//! use.
//!
//! ```text
//! application "gateway"
//! └─ supervisor, rest for one
//!    ├─ store         watches the node of the store, and tells the connections when it is lost and back
//!    ├─ connections   dynamic supervisor: a process for each client
//!    └─ acceptor      accepts clients
//! ```
//!
//! They are stopped in reverse order: first no client is accepted, then each connection finishes its request, and only
//! then the connection to the other node ends.
//!
//! | module | role |
//! |---|---|
//! | `lines` | splits the bytes of a client into lines |
//! | `request` | requests and replies |
//! | `store` | calls of the store, and the process that watches its node |
//! | `connection` | the process of a client |
//! | `listener` | the acceptor, and the supervisor of the connections |

mod connection;
mod lines;
mod listener;
mod request;
mod store;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::{Parser, value_parser};
use purlin::Node;
use purlin::application::{self, ApplicationSpec};
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin_dist::NodeName;
use purlin_dist::cluster::Cluster;
use tracing::Level;

use connection::{Limits, Shared};
use listener::Port;
use store::Store;

/// Time of a supervisor beyond that of its children.
const MARGIN: Duration = Duration::from_secs(1);

/// Serve a store of an Erlang node to clients over TCP
#[derive(Parser)]
struct Arguments {
    /// Address to listen at; port 0 chooses a free one
    #[arg(long, default_value = "127.0.0.1:7000")]
    listen: SocketAddr,
    /// Node of the store, such as store@127.0.0.1
    #[arg(long)]
    node: NodeName,
    /// Registered name of the store
    #[arg(long, default_value = "store")]
    store: String,
    /// Name of this node; each gateway of a cluster needs its own
    #[arg(long, default_value = "gateway@127.0.0.1")]
    name: NodeName,
    /// Cookie of the cluster; by default that of ~/.erlang.cookie
    #[arg(long, env = "GATEWAY_COOKIE", hide_env_values = true)]
    cookie: Option<String>,
    /// Port of epmd
    #[arg(long, env = "ERL_EPMD_PORT", default_value_t = purlin_dist::epmd::PORT)]
    epmd_port: u16,
    /// Largest number of clients
    #[arg(long, default_value_t = 1000, value_parser = value_parser!(u32).range(1..=1_000_000))]
    max_clients: u32,
    /// Seconds that the store has to answer a request
    #[arg(long, default_value_t = 5, value_parser = value_parser!(u64).range(1..=3600))]
    request_timeout: u64,
    /// Seconds after which a client that sends no line is disconnected
    #[arg(long, default_value_t = 60, value_parser = value_parser!(u64).range(1..=86_400))]
    idle_timeout: u64,
    /// Seconds after which a client that does not read is disconnected
    #[arg(long, default_value_t = 10, value_parser = value_parser!(u64).range(1..=3600))]
    write_timeout: u64,
    /// Seconds that a client has to close its connection when the gateway ends it
    #[arg(long, default_value_t = 10, value_parser = value_parser!(u64).range(1..=3600))]
    drain: u64,
}

#[purlin::main(name = "gateway")]
async fn main() -> ExitCode {
    tracing_subscriber::fmt().with_writer(io::stderr).with_max_level(Level::WARN).init();
    match start(Arguments::parse()).await {
        Ok((gateway, address)) => {
            println!("gateway: {address}");
            application::run(gateway).await
        }
        Err(error) => {
            eprintln!("gateway: {error}");
            ExitCode::from(2)
        }
    }
}

/// Returns the application, and the address at which clients can connect.
async fn start(
    arguments: Arguments,
) -> Result<(ApplicationSpec, SocketAddr), Box<dyn std::error::Error + Send + Sync>> {
    let (name, node) = (arguments.name, arguments.node);
    if name == node {
        return Err(format!("--name and --node are both {node}: each node has its own name").into());
    }
    if name.is_long() != node.is_long() {
        let why = "one is a long name and one a short name, and such nodes do not connect";
        return Err(format!("--name {name} and --node {node}: {why}").into());
    }
    let port = Port::bind(arguments.listen)?;
    // WHY: no other node calls the gateway, and it starts also while there is no epmd.
    let mut cluster = Cluster::builder(name).only_calls();
    cluster = cluster.epmd((Ipv4Addr::LOCALHOST, arguments.epmd_port).into());
    if let Some(cookie) = arguments.cookie {
        cluster = cluster.cookie(cookie);
    }
    let cluster = cluster.start(&Node::current().expect("main is a process")).await?;

    let request = Duration::from_secs(arguments.request_timeout);
    let limits = Limits {
        idle: Duration::from_secs(arguments.idle_timeout),
        write: Duration::from_secs(arguments.write_timeout),
        drain: Duration::from_secs(arguments.drain),
    };
    let store = Arc::new(Store::new(cluster, node, arguments.store, request));
    let shared = Arc::new(Shared { store: Arc::clone(&store), limits });
    // A connection that is stopped ends its request, sends the reply, and waits for the client.
    let stop = request + limits.write + limits.drain + MARGIN;
    let most = usize::try_from(arguments.max_clients)?;
    let tree = SupervisorSpec::rest_for_one()
        .child(ChildSpec::worker("store", move |me| store::watch(me, store)))
        .child(ChildSpec::supervisor("connections", listener::connections(shared, most, stop)))
        .child(port.acceptor());
    Ok((ApplicationSpec::new("gateway", tree).shutdown(stop + MARGIN), port.address()))
}
