//! `purlin ack serve`: arguments and implementation.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use purlin::{Node, Pid, Process, spawn};
use purlin_ack::handler::{Count, File, HandedBatch, ToProcess};
use purlin_ack::server::{Builder, Counts, Limits, PemError, Server, StartError, Tls};
use purlin_ack::strategy::Strategy;
use purlin_lab::error::Problem;

use super::forward::{Forwarding, To, Way};
use super::level::LevelName;
use crate::ending::asked_to_end;
use crate::output::{print, problem};
use crate::values::{count, positive};

const HELP: &str = "\
Examples:
  purlin ack serve
      the five servers of 2015 on ports 8001 to 8005 of this machine, and best on 8006
  purlin ack serve --strategy best --listen 0.0.0.0:9000 --handler file messages.bin
      one of them, for everybody, all messages in a file; acks mean what a client's
      session asks for: received, handled or durable
  purlin ack serve --strategy sync-ack --listen 127.0.0.1:0
      on any free port; the line that is printed says which
  purlin ack serve --strategy best --forward sink@shop@127.0.0.1 --cookie secret
      each message goes to the process sink of the node shop@127.0.0.1, Erlang's, Elixir's
      or ours, and is acknowledged when that has confirmed it
  purlin ack serve --tls-cert server.pem --tls-key server.key --tls-clients ca.pem
      over TLS, for clients with a certificate for which one in ca.pem vouches

Handlers:
  count      the messages are counted
  file PATH  they are appended to a file, as they came
  process    they are handed to a process, a block at a time

Ends at SIGTERM or Ctrl-C: nobody is let in any more, what was read is handled and
answered, and what was done is printed.

Exit status:
  0  it was asked to end, and everything that was read is answered
  2  it cannot listen or join a cluster, or what was asked cannot be; one line says why";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Serve {
    /// Start one server only: request-reply, throttle, head-rest, sync-ack, async-ack or best
    #[arg(long, value_name = "NAME", value_parser = str::parse::<Strategy>)]
    strategy: Option<Strategy>,

    /// Listen on this address, with --strategy also on this port [default: 127.0.0.1 and the port
    /// of each strategy]
    #[arg(long, value_name = "ADDRESS", value_parser = place)]
    listen: Option<Place>,

    /// Choose the handler of messages: count, file PATH or process
    #[arg(long, value_name = "NAME", num_args = 1..=2, default_value = "count")]
    handler: Vec<String>,

    #[command(flatten)]
    forwarding: Forwarding,

    /// Set the ack level of best for clients without a session; the other strategies always use
    /// received
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "handled")]
    level: LevelName,

    /// Limit concurrent connections per server; further clients wait [default: 16384]
    #[arg(long, value_name = "N", help_heading = "Limits", allow_negative_numbers = true, value_parser = count)]
    connections: Option<u32>,

    /// Limit concurrent connections per client address; further ones are closed [default: no limit]
    #[arg(long, value_name = "N", help_heading = "Limits", allow_negative_numbers = true, value_parser = count)]
    per_address: Option<u32>,

    /// Limit the payload size in bytes [default: 16777216]
    #[arg(long, value_name = "BYTES", help_heading = "Limits", allow_negative_numbers = true)]
    largest: Option<u32>,

    /// Close a connection that takes longer than this many seconds for a message or to read its
    /// acks [default: 5, with best 60]
    #[arg(long, value_name = "SECONDS", help_heading = "Limits", allow_negative_numbers = true, value_parser = positive)]
    silence: Option<f64>,

    /// Limit unanswered messages per session [default: 65536]
    #[arg(long, value_name = "N", help_heading = "Limits", allow_negative_numbers = true, value_parser = count)]
    window: Option<u32>,

    /// Remember the sessions of this many clients [default: 65536]
    #[arg(long, value_name = "N", help_heading = "Limits", allow_negative_numbers = true, value_parser = count)]
    clients: Option<u32>,

    /// Give connections this many seconds at shutdown to answer what they have read [default: 5]
    #[arg(long, value_name = "SECONDS", help_heading = "Limits", allow_negative_numbers = true, value_parser = positive)]
    drain: Option<f64>,

    /// Use TLS 1.3 with this certificate chain, a PEM file
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires = "tls_key")]
    tls_cert: Option<PathBuf>,

    /// Use this unencrypted PEM private key for the certificate
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Require client certificates signed by one of the CAs in this PEM file
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires = "tls_cert")]
    tls_clients: Option<PathBuf>,

    /// Accept connections with this many processes per server
    #[arg(long, value_name = "N", help_heading = "Advanced", default_value = "10", allow_negative_numbers = true, value_parser = count)]
    acceptors: u32,

    /// Run processes on this many threads [default: the number of cores]
    #[arg(long, value_name = "N", help_heading = "Advanced", allow_negative_numbers = true, value_parser = count)]
    workers: Option<u32>,
}

/// Address to listen on.
#[derive(Debug, Clone, Copy)]
enum Place {
    Address(IpAddr),
    Port(SocketAddr),
}

/// Handler as given in the arguments.
enum Asked {
    Count,
    File(PathBuf),
    Process,
    Forward(To),
}

/// Handler in use.
enum Handling {
    Count,
    File(File),
    Process(Pid<HandedBatch>),
    Forward(Way),
}

impl Serve {
    fn places(&self) -> Result<Vec<(Strategy, SocketAddr)>, Problem> {
        let here = Place::Address(Ipv4Addr::LOCALHOST.into());
        match (self.strategy, self.listen.unwrap_or(here)) {
            (Some(strategy), Place::Port(address)) => Ok(vec![(strategy, address)]),
            (Some(strategy), Place::Address(address)) => {
                Ok(vec![(strategy, (address, strategy.port()).into())])
            }
            (None, Place::Address(address)) => {
                let all = Strategy::ALL.into_iter();
                Ok(all.map(|strategy| (strategy, (address, strategy.port()).into())).collect())
            }
            (None, Place::Port(address)) => Err(Problem::new(format!(
                "six servers cannot listen on {address}; name one with --strategy, or leave the port out"
            ))),
        }
    }

    fn handling(&self) -> Result<Asked, Problem> {
        if let Some(to) = self.forwarding.to()? {
            return Ok(Asked::Forward(to.clone()));
        }
        let words: Vec<_> = self.handler.iter().map(String::as_str).collect();
        match words[..] {
            ["count"] => Ok(Asked::Count),
            ["process"] => Ok(Asked::Process),
            ["file", path] => Ok(Asked::File(path.into())),
            ["file"] => Err(Problem::new("which file? give --handler file PATH")),
            _ => Err(Problem::new(format!(
                "no handler \"{}\", only count, file PATH and process",
                words.join(" ")
            ))),
        }
    }

    fn tls(&self) -> Result<Option<Tls>, PemError> {
        let (Some(certificates), Some(key)) = (&self.tls_cert, &self.tls_key) else {
            return Ok(None);
        };
        let tls = Tls::from_pem(certificates, key)?;
        Ok(Some(match &self.tls_clients {
            None => tls,
            Some(authorities) => tls.client_certificates(authorities)?,
        }))
    }

    fn limits(&self) -> Limits {
        let usual = Limits::default();
        let clients = self.clients.and_then(|clients| NonZeroUsize::new(clients as usize));
        Limits {
            connections: self.connections.map_or(usual.connections, |count| count as usize),
            per_address: self.per_address.map_or(usual.per_address, |count| count as usize),
            largest: self.largest.unwrap_or(usual.largest),
            silence: self.silence.map(Duration::from_secs_f64),
            drain: self.drain.map_or(usual.drain, Duration::from_secs_f64),
            window: self.window.unwrap_or(usual.window),
            clients: clients.unwrap_or(usual.clients),
        }
    }
}

/// Runs the servers until the command is asked to end. Returns the exit status.
pub(crate) fn serve(asked: Serve) -> Result<u8, Problem> {
    let (places, handling) = (asked.places()?, asked.handling()?);
    let tls = asked.tls().map_err(problem)?;
    let mut builder = Node::builder();
    if let Some(workers) = asked.workers {
        builder = builder.workers(workers as usize);
    }
    let node = builder.build().map_err(problem)?;
    let on = node.clone();
    let served = node.block_on(async move |_: Process<()>| {
        let handling = handling.begin(&on, &asked.forwarding).await?;
        run(&on, &asked, places, &handling, tls).await
    });
    node.stop_blocking();
    served.map(|()| 0)
}

async fn run(
    node: &Node,
    asked: &Serve,
    places: Vec<(Strategy, SocketAddr)>,
    handling: &Handling,
    tls: Option<Tls>,
) -> Result<(), Problem> {
    let end = asked_to_end()?;
    let mut servers = Vec::new();
    for (strategy, address) in places {
        let mut builder = Server::builder(address)
            .strategy(strategy)
            .level(asked.level.into())
            .limits(asked.limits())
            .acceptors(asked.acceptors as usize);
        if let Some(tls) = &tls {
            builder = builder.tls(tls.clone());
        }
        let started = handling.start(builder, node).await;
        let server = started.map_err(problem)?;
        print(&format!("{strategy} listens on {}\n", server.local_addr()))?;
        servers.push((strategy, server));
    }
    end.await;
    // WHY concurrently: each server may take as long as its slowest connection.
    let drained =
        servers.into_iter().map(|(strategy, server)| (strategy, tokio::spawn(server.drain())));
    for (strategy, drained) in drained.collect::<Vec<_>>() {
        let counts = drained.await.map_err(problem)?;
        print(&told(strategy, &counts))?;
    }
    if let Handling::Forward(way) = handling {
        print(&way.finish(asked.limits().drain).await?)?;
    }
    Ok(())
}

impl Asked {
    async fn begin(self, node: &Node, forwarding: &Forwarding) -> Result<Handling, Problem> {
        Ok(match self {
            Self::Count => Handling::Count,
            Self::File(path) => {
                let file = File::open(node, path);
                Handling::File(file.map_err(problem)?)
            }
            Self::Process => Handling::Process(spawn(taker)),
            Self::Forward(to) => Handling::Forward(forwarding.begin(&to, node).await?),
        })
    }
}

impl Handling {
    async fn start(
        &self,
        builder: Builder<fn(SocketAddr) -> Count>,
        node: &Node,
    ) -> Result<Server, StartError> {
        match self {
            Self::Count => builder.start(node).await,
            Self::File(file) => {
                let file = file.clone();
                builder.handler(move |_| file.clone()).start(node).await
            }
            Self::Process(taker) => {
                let taker = taker.clone();
                builder.handler(move |_| ToProcess::new(taker.clone())).start(node).await
            }
            Self::Forward(way) => {
                let way = way.clone();
                builder.handler(move |peer| way.of(peer)).start(node).await
            }
        }
    }
}

/// Receives blocks and acknowledges them.
async fn taker(mut me: Process<HandedBatch>) {
    loop {
        me.receive().await.done();
    }
}

/// Formats the counters of a server as one line.
fn told(strategy: Strategy, counts: &Counts) -> String {
    let mut line = format!(
        "{strategy}: {} messages in {} acks on {} connections",
        counts.messages, counts.acks, counts.connections_ever
    );
    for (number, what) in [
        (counts.refusals, "messages refused"),
        (counts.too_large, "connections closed for a message over the limit"),
        (counts.silent, "for silence"),
        (counts.deaf, "for not reading acks"),
        (counts.insecure, "for bad TLS"),
        (counts.failed, "by the handler"),
        (counts.over_address, "as too many from one address"),
    ] {
        if number > 0 {
            line += &format!(", {number} {what}");
        }
    }
    line + "\n"
}

/// Parses an address, with or without a port.
fn place(text: &str) -> Result<Place, String> {
    let address = text.parse().map(Place::Address);
    let place = address.or_else(|_| text.parse().map(Place::Port));
    place.map_err(|_| "give an address such as 0.0.0.0, or 0.0.0.0:9000 with a port".into())
}
