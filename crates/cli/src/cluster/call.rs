//! `purlin call`: calls a function on a node of an Erlang cluster and prints its value.
//!
//! The command starts a node, connects to the callee, makes one `rpc` and stops the node.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::time::Duration;

use clap::Args;
use purlin::Process;
use purlin_dist::cluster::Cluster;
use purlin_dist::{NodeName, epmd};
use purlin_lab::error::Problem;
use purlin_term::{Atom, Term};

use super::join::{ClusterOptions, own_epmd};
use super::json::json;
use crate::output::{print, print_error, problem};
use crate::values::{epmd_address, positive};

const HELP: &str = "\
Examples:
  purlin call a@127.0.0.1 erlang node
      prints the value in Erlang's syntax: 'a@127.0.0.1'
  purlin call a@127.0.0.1 lists seq '[1, 5]' --cookie secret
      arguments as a list in Erlang's syntax: prints [1,2,3,4,5]
  purlin call a@127.0.0.1 Elixir.String upcase '[<<\"hello\">>]'
      an Elixir module: prints <<\"HELLO\">>
  purlin call a@127.0.0.1 purlin processes
      processes of a node started with `purlin node`
  purlin call a@127.0.0.1 purlin processes --json | jq '.[].name'
      for a script
  purlin call a@10.0.0.5 purlin processes --tls-cert me.pem --tls-key me.key --tls-ca ca.pem
      over TLS

Exit status:
  0  the value is printed
  1  the function does not exist or failed, or no answer came in time; the reason is
     printed, as {badrpc,Reason} if it is the node's
  2  invalid arguments, or no connection to the node";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Call {
    /// Call this node: name@host
    #[arg(value_name = "NODE", value_parser = str::parse::<NodeName>)]
    node: NodeName,

    /// Call a function of this module, given without quotes
    #[arg(value_name = "MODULE", value_parser = Atom::new)]
    module: Atom,

    /// Call this function, given without quotes
    #[arg(value_name = "FUNCTION", value_parser = Atom::new)]
    function: Atom,

    /// Pass these arguments, a list in Erlang's syntax
    #[arg(value_name = "ARGUMENTS", default_value = "[]", value_parser = list)]
    arguments: Arguments,

    /// Set the address of the epmd on the node's host [default: port 4369 there, or ERL_EPMD_PORT]
    #[arg(long, value_name = "ADDRESS", value_parser = epmd_address)]
    epmd: Option<SocketAddr>,

    #[command(flatten)]
    cluster: ClusterOptions,

    /// Wait this many seconds for the value
    #[arg(long, value_name = "SECONDS", default_value = "5", allow_negative_numbers = true, value_parser = positive)]
    timeout: f64,

    /// Print JSON: tuples as arrays, atoms as strings, nil and undefined as null, pids and other types without a form in JSON as strings in
    /// Erlang's syntax
    #[arg(long)]
    json: bool,
}

/// Arguments of the called function.
#[derive(Debug, Clone)]
struct Arguments(Vec<Term>);

/// Runs the command. Returns exit status 0 if the value is printed, and 1 if the call failed, with
/// the reason on standard error.
///
/// # Errors
/// Returns an error, which exits with status 2, for a missing cookie, invalid TLS files, or no
/// connection to the node.
pub(crate) fn call(options: &Call) -> Result<u8, Problem> {
    let (callee, timeout) = (options.node.clone(), Duration::from_secs_f64(options.timeout));
    // The node only opens connections. The port of its epmd is also the default for other hosts.
    let mut builder = Cluster::builder(own_name(&callee)?).epmd(own_epmd()?).only_calls();
    if let Some(epmd) = options.epmd {
        builder = builder.epmd_of(callee.host(), epmd);
    }
    let builder = options.cluster.prepare(builder)?;
    let (module, function) = (options.module.clone(), options.function.clone());
    let Arguments(arguments) = options.arguments.clone();
    let node = purlin::Node::builder().workers(1).build().map_err(problem)?;
    let on = node.clone();
    let called = node.block_on(async move |_: Process<()>| {
        let cluster = builder.start(&on).await.map_err(problem)?;
        let connected = cluster.connect(&callee).await;
        connected.map_err(|why| Problem::new(format!("no connection to {callee}: {why}")))?;
        let (module, function) = (module.as_str(), function.as_str());
        Ok(cluster.rpc(&callee, module, function, arguments, timeout).await)
    });
    node.stop_blocking();
    match called? {
        Ok(value) if options.json => print(&format!("{:#}\n", json(&value))).map(|()| 0),
        Ok(value) => print(&format!("{value}\n")).map(|()| 0),
        Err(why) => {
            print_error(&format!("purlin: {}", problem(why)));
            Ok(1)
        }
    }
}

/// Returns a node name that is unique among concurrent callers: it contains the process id and this machine's address.
/// It is long or short as the callee's is, because nodes with long and short names do not connect. The host `localhost`
/// serves for a short name: this node does not listen, so the host is never looked up. The address is then before the
/// `@`, where neither `.` nor `:` is valid.
///
/// WHY not a random name: a BEAM never frees the name of a node it has seen, and process ids repeat.
fn own_name(callee: &NodeName) -> Result<NodeName, Problem> {
    let (own, process) = (own_address(callee.host()), std::process::id());
    let name = match callee.is_long() {
        true => format!("purlin-call-{process}@{own}"),
        false => {
            let own = own.to_string().replace(['.', ':'], "-");
            format!("purlin-call-{process}-{own}@localhost")
        }
    };
    name.parse().map_err(problem)
}

/// Returns the local address from which this machine reaches `host`. Returns 127.0.0.1 if there is no route; the
/// connection attempt then reports the error.
fn own_address(host: &str) -> IpAddr {
    let towards = |from: IpAddr| {
        let socket = UdpSocket::bind((from, 0))?;
        // Connecting a UDP socket sends nothing.
        socket.connect((host, epmd::PORT))?;
        Ok::<_, io::Error>(socket.local_addr()?.ip())
    };
    let four = towards(Ipv4Addr::UNSPECIFIED.into());
    let own = four.or_else(|_| towards(Ipv6Addr::UNSPECIFIED.into()));
    own.unwrap_or(Ipv4Addr::LOCALHOST.into())
}

/// Parses a list in Erlang's syntax.
fn list(text: &str) -> Result<Arguments, String> {
    match text.parse() {
        Ok(Term::List(arguments)) => Ok(Arguments(arguments)),
        Ok(_) => Err("give a list, such as '[1, two]'".into()),
        Err(error) => Err(error.to_string()),
    }
}
