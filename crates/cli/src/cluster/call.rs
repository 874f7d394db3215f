//! `purlin call`: the words, and what they do.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use clap::Args;
use purlin::Process;
use purlin_dist::NodeName;
use purlin_dist::cluster::{Cluster, StartError};
use purlin_dist::connect::NoConnection;
use purlin_dist::epmd::Failed;
use purlin_lab::error::Problem;
use purlin_term::{Atom, Term};

use super::{Joining, problem};
use crate::arguments::positive;

/// How many names are tried.
const NAMES: u32 = 16;

const HELP: &str = "\
Examples:
  purlin call a@127.0.0.1 erlang node
      the value, in Erlang's syntax, on a line: 'a@127.0.0.1'
  purlin call a@127.0.0.1 lists seq '[1, 5]' --cookie secret
      with arguments, a list in Erlang's syntax: [1,2,3,4,5]
  purlin call a@127.0.0.1 Elixir.String upcase '[<<\"hello\">>]'
      of a module of Elixir: <<\"HELLO\">>
  purlin call a@127.0.0.1 purlin processes
      of a node started by purlin node

The node has to be known to the epmd of this machine.

Exit status:
  0  the value is printed
  1  there is none: the function is not there or failed, or no answer came in time; one
     line says why, as {badrpc,Reason} if the node has said so
  2  it was asked wrongly, or there is no connection to the node; one line says why";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Call {
    /// Which node: name@host
    #[arg(value_name = "NODE", value_parser = str::parse::<NodeName>)]
    node: NodeName,

    /// The module, as it is, without quotes
    #[arg(value_name = "MODULE", value_parser = Atom::new)]
    module: Atom,

    /// The function, as it is, without quotes
    #[arg(value_name = "FUNCTION", value_parser = Atom::new)]
    function: Atom,

    /// Its arguments, a list in Erlang's syntax
    #[arg(value_name = "ARGUMENTS", default_value = "[]", value_parser = list)]
    arguments: Arguments,

    #[command(flatten)]
    joining: Joining,

    /// Seconds to wait for the value
    #[arg(long, value_name = "SECONDS", default_value = "5", allow_negative_numbers = true, value_parser = positive)]
    timeout: f64,
}

#[derive(Debug, Clone)]
struct Arguments(Vec<Term>);

/// Does it, and tells the exit status.
pub(crate) fn call(asked: &Call) -> Result<u8, Problem> {
    let (cookie, epmd) = (asked.joining.cookie()?, asked.joining.epmd()?);
    let (callee, timeout) = (asked.node.clone(), Duration::from_secs_f64(asked.timeout));
    let (module, function) = (asked.module.clone(), asked.function.clone());
    let Arguments(arguments) = asked.arguments.clone();
    let node = purlin::Node::builder().workers(1).build().map_err(problem)?;
    let on = node.clone();
    let called = node.block_on(async move |_: Process<()>| {
        let cluster = join(&on, callee.host(), &cookie, epmd).await?;
        let connected = cluster.connect(&callee).await;
        connected.map_err(|why| unconnected(&callee, &why))?;
        let (module, function) = (module.as_str(), function.as_str());
        Ok(cluster.rpc(&callee, module, function, arguments, timeout).await)
    });
    node.stop_blocking();
    match called? {
        Ok(value) => crate::print(&format!("{value}\n")).map(|()| 0),
        Err(why) => {
            eprintln!("purlin: {}", problem(why));
            Ok(1)
        }
    }
}

/// Joins under a name that nobody has.
async fn join(
    on: &purlin::Node,
    host: &str,
    cookie: &[u8],
    epmd: SocketAddr,
) -> Result<Cluster, Problem> {
    let mut number = 0;
    loop {
        // WHY not by chance: a BEAM keeps the name of every node that it has heard of.
        let name = match number {
            0 => format!("purlin-call-{}@{host}", std::process::id()),
            _ => format!("purlin-call-{}-{number}@{host}", std::process::id()),
        };
        let name = name.parse().map_err(problem)?;
        let builder = Cluster::builder(name).cookie(cookie).epmd(epmd);
        // Nobody is to connect to it.
        match builder.listen((Ipv4Addr::LOCALHOST, 0).into()).start(on).await {
            Ok(cluster) => return Ok(cluster),
            // A process of another container has our number.
            Err(StartError::Epmd(Failed::Taken(_))) if number < NAMES => number += 1,
            Err(error) => return Err(problem(error)),
        }
    }
}

/// Says why there is no connection.
fn unconnected(to: &NodeName, why: &NoConnection) -> Problem {
    match why {
        // WHY a guess: a node does not tell a stranger that its cookie is wrong.
        NoConnection::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Problem::new(format!("no connection to {to}: it hung up; is it the same cookie?"))
        }
        why => Problem::new(format!("no connection to {to}: {why}")),
    }
}

/// A list, in Erlang's syntax.
fn list(text: &str) -> Result<Arguments, String> {
    match text.parse() {
        Ok(Term::List(arguments)) => Ok(Arguments(arguments)),
        Ok(_) => Err("give a list, such as '[1, two]'".into()),
        Err(error) => Err(error.to_string()),
    }
}
