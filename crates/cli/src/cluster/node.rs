//! `purlin node`: arguments and implementation.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use clap::Args;
use purlin::Process;
use purlin_dist::NodeName;
use purlin_dist::cluster::{Cluster, Logs};
use purlin_dist::epmd::{self, Epmd, Failed, Server};
use purlin_lab::error::Problem;

use super::exports;
use super::join::{ClusterOptions, EPMD_PORT, own_epmd};
use crate::logging::Logging;
use crate::output::{main_process_ended, print, problem};
use crate::shutdown::shutdown_signal;
use crate::values::{epmd_address, socket_address};

const HELP: &str = "\
Examples:
  purlin node --name a@127.0.0.1
      a node with the cookie in ~/.erlang.cookie
  purlin node --name a@127.0.0.1 --cookie secret
      another cookie; then in erl -name me@127.0.0.1 -setcookie secret:
        net_adm:ping('a@127.0.0.1').
        {echo, 'a@127.0.0.1'} ! {self(), hello}, receive {_, What} -> What end.
        gen_server:call({echo, 'a@127.0.0.1'}, hello).
        rpc:call('a@127.0.0.1', purlin, processes, []).
  purlin node --name a@10.0.0.5 --listen 10.0.0.5:9100
      on a port that the firewall permits
  purlin node --name a@10.0.0.5 --tls-cert a.pem --tls-key a.key --tls-ca ca.pem
      over TLS, for nodes of erl -proto_dist inet_tls

The node is hidden: other nodes list it in nodes(hidden), unless --published is given.
It offers:
  echo                process that answers {From, What} with {Echo, What}, and a call with
                      its request
  purlin:echo/1       function that returns its argument
  purlin:processes/0  function that returns the node's processes, each as a map
  purlin:log_to/2     function that logs to another node: log_to(group_leader(), info)
and the functions that observer and etop call:
  erl -name me@127.0.0.1 -s observer                     then Nodes, Connect Node
  etop -node a@127.0.0.1 -setcookie secret -tracing off

If no epmd runs, the command starts one, which ends with the node. Errors are logged to
standard error, one line each. SIGTERM or Ctrl-C stops the node.

Exit status:
  0  stopped by a signal
  1  another node ended the main process of this one, as by exit(Pid, kill)
  2  there is no cookie, another node has the name, or the node cannot listen";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Node {
    /// Set the node's name: letters, digits, _ or -, then @ and this machine's address or host
    /// name
    #[arg(long, value_name = "NAME", value_parser = str::parse::<NodeName>)]
    name: NodeName,

    #[command(flatten)]
    cluster: ClusterOptions,

    /// Listen for other nodes on this address [default: any port of the address in the name, or of
    /// all addresses]
    #[arg(long, value_name = "ADDRESS", value_parser = socket_address)]
    listen: Option<SocketAddr>,

    /// Be a visible node, which others connect to automatically and list in nodes(), and support
    /// global
    #[arg(long)]
    published: bool,

    /// Set the address of this machine's epmd [default: 127.0.0.1 and port 4369, or ERL_EPMD_PORT]
    #[arg(long, value_name = "ADDRESS", value_parser = epmd_address)]
    epmd: Option<SocketAddr>,

    #[command(flatten)]
    logging: Logging,
}

/// Runs the node until SIGTERM or Ctrl-C. Returns the exit status.
pub(crate) fn node(options: &Node) -> Result<u8, Problem> {
    let epmd = options.epmd.map_or_else(own_epmd, Ok)?;
    let mut builder = options.cluster.prepare(Cluster::builder(options.name.clone()).epmd(epmd))?;
    if let Some(listen) = options.listen {
        builder = builder.listen(listen);
    }
    if options.published {
        builder = builder.published();
    }
    let logs = Logs::new();
    builder = builder.logs(&logs);
    let started = startup_line(options, epmd);
    let own_epmd = options.epmd.unwrap_or(own_epmd_address(&options.name, epmd));
    options.logging.start(Some(logs))?;
    let node = purlin::Node::builder().build().map_err(problem)?;
    let on = node.clone();
    let served = node.try_block_on(async move |_: Process<()>| {
        let end = shutdown_signal()?;
        let epmd = epmd_at(epmd, own_epmd).await?;
        let cluster = builder.start(&on).await.map_err(problem)?;
        exports::export_all(&cluster)?;
        print(&started)?;
        end.await;
        Ok(epmd)
    });
    // WHY the epmd last: the node would otherwise log that it is gone.
    node.stop_blocking();
    match served {
        Ok(result) => result.map(|_epmd| 0),
        Err(reason) => Ok(main_process_ended("node", &reason)),
    }
}

/// Returns the address on which an own epmd has to listen so that other nodes find a node of this
/// name.
fn own_epmd_address(name: &NodeName, epmd: SocketAddr) -> SocketAddr {
    match name.host().parse() {
        Ok(IpAddr::V4(address)) if address.is_loopback() => epmd,
        Err(_) if name.host() == "localhost" => epmd,
        Ok(IpAddr::V6(_)) => (Ipv6Addr::UNSPECIFIED, epmd.port()).into(),
        _ => (Ipv4Addr::UNSPECIFIED, epmd.port()).into(),
    }
}

/// Starts an epmd at `own` unless one answers at `address`.
async fn epmd_at(address: SocketAddr, own: SocketAddr) -> Result<Option<Server>, Problem> {
    match Epmd::at(address).names().await {
        Err(Failed::Unreachable(..)) => {}
        // A misbehaving epmd is reported when the node registers.
        _ => return Ok(None),
    }
    match Server::start(own).await {
        Ok(server) => {
            print(&format!(
                "no epmd at {address}: started one at {own} for as long as this command runs\n"
            ))?;
            Ok(Some(server))
        }
        // Another process has started one in the meantime.
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
        Err(error) => Err(Problem::new(format!(
            "there is no epmd at {address}, and none can be started at {own}: {error}"
        ))),
    }
}

/// Returns one line with the node's name and how to reach it from `erl`.
fn startup_line(options: &Node, epmd: SocketAddr) -> String {
    let name = &options.name;
    // Only nodes with names of the same kind, long or short, can connect.
    let kind = if name.is_long() { "-name" } else { "-sname" };
    let host = name.host();
    let port = match epmd.port() {
        epmd::PORT => String::new(),
        port => format!("{EPMD_PORT}={port} "),
    };
    // WHY not the cookie itself: output may end up in logs.
    let cookie = if options.cluster.secret.is_given() { " -setcookie COOKIE" } else { "" };
    let tls = match options.cluster.tls_cert {
        Some(_) => " -proto_dist inet_tls -ssl_dist_optfile FILE",
        None => "",
    };
    format!(
        "{name} is up; try net_adm:ping('{name}'). in {port}erl {kind} me@{host}{cookie}{tls}\n"
    )
}
