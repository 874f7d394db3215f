//! `purlin ack serve`: arguments and implementation.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use purlin::{Down, ExitReason, Node, Pid, Process, spawn};
use purlin_ack::handler::{Count, File, HandedBatch, OpenError, ToProcess};
use purlin_ack::server::{Builder, Counts, Limits, PemError, Server, StartError, Tls};
use purlin_ack::session::Level;
use purlin_ack::strategy::Strategy;
use purlin_lab::error::Problem;

use super::forward::{Forwarding, GatewayRef, Target};
use super::log::LogSettings;
use crate::logging::Logging;
use crate::output::{main_process_ended, print, print_error, problem, with_counters};
use crate::shutdown::shutdown_signal;
use crate::values::{LEVELS, count, one_of, positive};

const HELP: &str = "\
Examples:
  purlin ack serve
      the five servers of 2015 on ports 8001 to 8005 of 127.0.0.1, and best on 8006
  purlin ack serve --strategy best --listen 0.0.0.0:9000 --handler file messages
      one server on all interfaces that appends all messages to a log in the folder
      messages; a client's session selects the meaning of its acks: received, handled
      or durable
  purlin ack serve --strategy sync-ack --listen 127.0.0.1:0
      on a free port, which is printed
  purlin ack serve --strategy best --forward sink@shop@127.0.0.1 --cookie secret
      forwards each message to the process sink on the node shop@127.0.0.1 (Erlang,
      Elixir or purlin), and acknowledges it when the process has confirmed it
  purlin ack serve --tls-cert server.pem --tls-key server.key --tls-clients ca.pem
      over TLS, for clients with a certificate signed by a CA in ca.pem

Handlers:
  count      count the messages
  file PATH  append the messages to a log in a folder; see purlin ack log
  process    send the messages to a process, one block at a time

Connections closed at a limit or for an error, refused sessions and failures of handlers are
logged to standard error, each kind at most once per second with the number of lines left out.

At SIGTERM or Ctrl-C the servers accept no more connections, handle and acknowledge the
messages that they have read, and print their counters.

Exit status:
  0  stopped by a signal after all messages that were read have been acknowledged, except those
     that the process of --forward had not confirmed: they are printed as not confirmed
  1  the log of --handler file could not be written, or another node ended the main process or
     the gateway of this one
  2  invalid arguments, the command cannot listen or join the cluster, or the log is damaged";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Serve {
    /// Start one server only: request-reply, throttle, head-rest, sync-ack, async-ack or best
    #[arg(long, value_name = "NAME", value_parser = str::parse::<Strategy>)]
    strategy: Option<Strategy>,

    /// Listen on this address, with --strategy also on this port [default: 127.0.0.1 and the port
    /// of each strategy]
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    listen: Option<ListenAddress>,

    /// Choose the handler of messages: count, file PATH or process
    #[arg(long, value_name = "NAME", num_args = 1..=2, default_value = "count")]
    handler: Vec<String>,

    #[command(flatten)]
    forwarding: Forwarding,

    #[command(flatten)]
    log: LogSettings,

    /// Set the ack level of best for clients without a session; the other strategies always use
    /// received, and durable requires --handler file [default: handled]
    #[arg(long, value_name = "LEVEL", value_parser = one_of(LEVELS))]
    level: Option<Level>,

    /// Limit concurrent connections per server; at the limit the longest idle one is closed for a
    /// new one [default: 16384]
    #[arg(long, value_name = "N", help_heading = "Limits", allow_negative_numbers = true, value_parser = count)]
    connections: Option<u32>,

    /// Limit concurrent connections per client address or IPv6 /64 network; further ones are closed
    /// [default: 1024]
    #[arg(long, value_name = "N", help_heading = "Limits", allow_negative_numbers = true, value_parser = count)]
    per_address: Option<u32>,

    /// Limit the payload size in bytes [default: 16777216]
    #[arg(long, value_name = "BYTES", help_heading = "Limits", allow_negative_numbers = true)]
    largest: Option<u32>,

    /// Close a connection that takes longer than this many seconds for a message or to read its
    /// acks [default: 5, with best 60]
    #[arg(long, value_name = "SECONDS", help_heading = "Limits", allow_negative_numbers = true, value_parser = positive)]
    idle_timeout: Option<f64>,

    /// Limit unanswered messages per session [default: 65536]
    #[arg(long, value_name = "N", help_heading = "Limits", allow_negative_numbers = true, value_parser = count)]
    window: Option<u32>,

    /// Limit the read buffers of all connections of a server, beyond 4096 bytes of each, in bytes;
    /// stalled connections are closed for those that need more [default: 67108864]
    #[arg(long, value_name = "BYTES", help_heading = "Limits", allow_negative_numbers = true)]
    buffer_bytes: Option<usize>,

    /// Limit the remembered sessions of a server in bytes, 200 for each client and 16 for each
    /// refused message [default: 33554432]
    #[arg(long, value_name = "BYTES", help_heading = "Limits", allow_negative_numbers = true)]
    session_bytes: Option<usize>,

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

    #[command(flatten)]
    logging: Logging,

    /// Run processes on this many threads [default: the number of cores]
    #[arg(long, value_name = "N", help_heading = "Advanced", allow_negative_numbers = true, value_parser = count)]
    workers: Option<u32>,
}

/// Address to listen on.
#[derive(Debug, Clone, Copy)]
enum ListenAddress {
    Address(IpAddr),
    Port(SocketAddr),
}

/// Handler as given in the arguments.
enum HandlerOption {
    Count,
    File(PathBuf),
    Process,
    Forward(Target),
}

/// Handler in use.
enum RunningHandler {
    Count,
    File(File),
    Process(Pid<HandedBatch>),
    Forward(GatewayRef),
}

impl Serve {
    fn addresses(&self) -> Result<Vec<(Strategy, SocketAddr)>, Problem> {
        let here = ListenAddress::Address(Ipv4Addr::LOCALHOST.into());
        match (self.strategy, self.listen.unwrap_or(here)) {
            (Some(strategy), ListenAddress::Port(address)) => Ok(vec![(strategy, address)]),
            (Some(strategy), ListenAddress::Address(address)) => {
                Ok(vec![(strategy, (address, strategy.port()).into())])
            }
            (None, ListenAddress::Address(address)) => {
                let all = Strategy::ALL.into_iter();
                Ok(all.map(|strategy| (strategy, (address, strategy.port()).into())).collect())
            }
            (None, ListenAddress::Port(address)) => Err(Problem::new(format!(
                "six servers cannot listen on {address}; name one with --strategy, or leave the port out"
            ))),
        }
    }

    fn handler(&self) -> Result<HandlerOption, Problem> {
        if let Some(to) = self.forwarding.target()? {
            return Ok(HandlerOption::Forward(to.clone()));
        }
        let words: Vec<_> = self.handler.iter().map(String::as_str).collect();
        match words[..] {
            ["count"] => Ok(HandlerOption::Count),
            ["process"] => Ok(HandlerOption::Process),
            ["file", path] => Ok(HandlerOption::File(path.into())),
            ["file"] => {
                Err(Problem::new("the handler file needs a path: give --handler file PATH"))
            }
            _ => Err(Problem::new(format!(
                "no handler \"{}\": give count, file PATH or process",
                words.join(" ")
            ))),
        }
    }

    /// Refuses options of the log without the handler that writes it.
    fn check_log(&self, handler: &HandlerOption) -> Result<(), Problem> {
        match self.log.given() {
            Some(name) if !matches!(handler, HandlerOption::File(_)) => {
                Err(Problem::new(format!("{name} requires --handler file")))
            }
            _ => Ok(()),
        }
    }

    /// Returns the ack level of clients without a session.
    fn level(&self) -> Level {
        self.level.unwrap_or(Level::Handled)
    }

    /// Refuses a level at which the servers would not acknowledge.
    fn check_level(&self, handler: &HandlerOption) -> Result<(), Problem> {
        match self.strategy {
            Some(strategy) if strategy != Strategy::Best && self.level > Some(Level::Received) => {
                Err(Problem::new(format!(
                    "{strategy} always acknowledges at the level received: leave --level out, or \
                     give --strategy best"
                )))
            }
            _ if self.level() == Level::Durable && !matches!(handler, HandlerOption::File(_)) => {
                Err(Problem::new("--level durable requires --handler file"))
            }
            _ => Ok(()),
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
        Limits {
            connections: self.connections.map_or(usual.connections, |count| count as usize),
            per_address: self.per_address.map_or(usual.per_address, |count| count as usize),
            largest: self.largest.unwrap_or(usual.largest),
            idle_timeout: self.idle_timeout.map(Duration::from_secs_f64),
            drain: self.drain.map_or(usual.drain, Duration::from_secs_f64),
            window: self.window.unwrap_or(usual.window),
            buffer_bytes: self.buffer_bytes.unwrap_or(usual.buffer_bytes),
            session_bytes: self.session_bytes.unwrap_or(usual.session_bytes),
        }
    }
}

/// Runs the servers until SIGTERM, Ctrl-C, a failure of the log or the end of the gateway. Returns the exit status.
pub(crate) fn serve(options: Serve) -> Result<u8, Problem> {
    let (addresses, handler) = (options.addresses()?, options.handler()?);
    options.check_level(&handler)?;
    options.check_log(&handler)?;
    let tls = options.tls().map_err(problem)?;
    options.logging.start(None)?;
    let mut builder = Node::builder();
    if let Some(workers) = options.workers {
        builder = builder.workers(workers as usize);
    }
    let node = builder.build().map_err(problem)?;
    let on = node.clone();
    let served = node.try_block_on(async move |mut me: Process<Down>| {
        let handler = handler.start(&on, &options).await?;
        handler.monitor(&me);
        let failed = run(&mut me, &on, &options, addresses, &handler, tls).await?;
        Ok(failed.map(|reason| handler.failure(&reason)))
    });
    node.stop_blocking();
    match served {
        Ok(Ok(None)) => Ok(0),
        Ok(Ok(Some(failure))) => {
            print_error(&format!("purlin ack serve: {failure}"));
            Ok(1)
        }
        Ok(Err(problem)) => Err(problem),
        Err(reason) => Ok(main_process_ended("ack serve", &reason)),
    }
}

/// Runs the servers, and closes the log. Returns the reason if the process of the handler has failed or was ended.
async fn run(
    me: &mut Process<Down>,
    node: &Node,
    options: &Serve,
    addresses: Vec<(Strategy, SocketAddr)>,
    handler: &RunningHandler,
    tls: Option<Tls>,
) -> Result<Option<ExitReason>, Problem> {
    let end = shutdown_signal()?;
    let mut servers = Vec::new();
    for (strategy, address) in addresses {
        let mut builder = Server::builder(address)
            .strategy(strategy)
            .level(options.level())
            .limits(options.limits())
            .acceptors(options.acceptors as usize);
        if let Some(tls) = &tls {
            builder = builder.tls(tls.clone());
        }
        let started = handler.start(builder, node).await;
        let server = started.map_err(problem)?;
        print(&format!("{strategy} listens on {}\n", server.local_addr()))?;
        servers.push((strategy, server));
    }
    let mut failed = tokio::select! {
        () = end => None,
        down = me.receive() => Some(down),
    };
    // WHY concurrently: each server may take as long as its slowest connection.
    let drained =
        servers.into_iter().map(|(strategy, server)| (strategy, tokio::spawn(server.drain())));
    for (strategy, drained) in drained.collect::<Vec<_>>() {
        let counts = drained.await.map_err(problem)?;
        print(&summary(strategy, &counts))?;
    }
    if let (RunningHandler::Forward(gateway), None) = (handler, &failed) {
        match gateway.finish(options.limits().drain).await {
            Ok(counters) => print(&counters)?,
            // WHY awaited: the call fails only if the gateway has ended, which its monitor reports.
            Err(_) => failed = Some(me.receive().await),
        }
    }
    if let (RunningHandler::File(file), None) = (handler, &failed) {
        // WHY awaited: the writer process syncs the log when it ends, or has failed meanwhile.
        node.exit(file.process(), ExitReason::Shutdown);
        let reason = tokio::select! {
            down = me.receive() => down.reason,
            () = shutdown_signal()? => ExitReason::error("a signal ended the wait for its last sync"),
        };
        return Ok((reason != ExitReason::Shutdown).then_some(reason));
    }
    Ok(failed.map(|down| down.reason))
}

impl HandlerOption {
    async fn start(self, node: &Node, options: &Serve) -> Result<RunningHandler, Problem> {
        Ok(match self {
            Self::Count => RunningHandler::Count,
            Self::File(path) => {
                let file = File::open_with(node, &path, options.log.options());
                RunningHandler::File(file.map_err(|error| not_opened(&error, &path))?)
            }
            Self::Process => RunningHandler::Process(spawn(sink)),
            Self::Forward(to) => {
                RunningHandler::Forward(options.forwarding.start(&to, node).await?)
            }
        })
    }
}

impl RunningHandler {
    /// Monitors the process without which the handler does not work.
    fn monitor(&self, me: &Process<Down>) {
        match self {
            Self::File(file) => {
                me.monitor(file.process());
            }
            Self::Forward(gateway) => gateway.monitor(me),
            Self::Count | Self::Process(_) => {}
        }
    }

    /// Says that the monitored process has ended for this reason.
    fn failure(&self, reason: &ExitReason) -> Problem {
        Problem::new(match self {
            Self::Forward(_) => format!("the gateway was ended: {reason}"),
            _ => format!("the log cannot be written, and must be opened again: {reason}"),
        })
    }

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
            Self::Process(sink) => {
                let sink = sink.clone();
                builder.handler(move |_| ToProcess::new(sink.clone())).start(node).await
            }
            Self::Forward(gateway) => {
                let gateway = gateway.clone();
                builder.handler(move |peer| gateway.handler(peer)).start(node).await
            }
        }
    }
}

/// Says what to do about a log that cannot be opened.
fn not_opened(error: &OpenError, path: &Path) -> Problem {
    if !error.is_damage() {
        return problem(error);
    }
    let path = path.display();
    Problem::new(format!("{error}; to copy what is whole run `purlin ack log repair {path} NEW`"))
}

/// Receives blocks and acknowledges them.
async fn sink(mut me: Process<HandedBatch>) {
    loop {
        let mut handed = me.receive().await;
        if handed.begin() {
            handed.done();
        }
    }
}

/// Formats the counters of a server as one line.
fn summary(strategy: Strategy, counts: &Counts) -> String {
    let line = format!(
        "{strategy}: {} messages in {} acks on {} connections",
        counts.messages, counts.acks, counts.connections_ever
    );
    let counters = [
        (counts.refusals, "messages refused"),
        (counts.too_large, "connections closed for a message over the limit"),
        (counts.idle_timeout, "by the idle timeout"),
        (counts.slow_reader, "for not reading acks"),
        (counts.insecure, "for bad TLS"),
        (counts.failed, "by the handler"),
        (counts.over_address, "as too many from one address"),
        (counts.gave_way, "to accept a new one"),
        (counts.over_budget, "for lack of buffer or session bytes"),
        (counts.sessions_refused, "without a session"),
    ];
    with_counters(line, &counters)
}

/// Parses an address, with or without a port.
fn listen_address(text: &str) -> Result<ListenAddress, String> {
    let address = text.parse().map(ListenAddress::Address);
    let address = address.or_else(|_| text.parse().map(ListenAddress::Port));
    address.map_err(|_| "give an address such as 0.0.0.0, or 0.0.0.0:9000 with a port".into())
}
