//! `purlin ack load`: arguments and implementation.

use std::path::PathBuf;
use std::pin::pin;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use purlin_ack::client::{PemError, Tls};
use purlin_ack::load::{Live, Load as Run, LoadError, Plan, short};
use purlin_ack::session::Level;
use purlin_ack::strategy::Strategy;
use purlin_lab::error::Problem;
use purlin_lab::store;
use tokio::runtime::Builder;
use tokio::time::MissedTickBehavior;

use crate::output::{print, print_error, problem};
use crate::shutdown::shutdown_signal;
use crate::values::{LEVELS, count, large_count, one_of, positive};

/// Refresh interval of the live line.
const TICK: Duration = Duration::from_millis(250);
/// Exit status of an interrupted command.
const INTERRUPTED: u8 = 130;

const HELP: &str = "\
Examples:
  purlin ack load
      the preset of best, to port 8006 of this machine
  purlin ack load --strategy throttle
      the preset of 2015 for that server, to its port 8002
  purlin ack load --strategy sync-ack host:9000 --connections 4 --rounds 10 --json out.json
      four connections to another host; results also in out.json
  purlin ack load --session handled --size 100 --window 10000
      a session on each connection, messages of 100 bytes, at most 10000 unanswered
  purlin ack load 10.0.0.7:8006 --tls-ca ca.pem --tls-name server.example
      over TLS, to a server with a certificate for that name signed by a CA in ca.pem

Presets: rounds × messages of 5 bytes, messages per write
  request-reply  100 × 10000, one at a time
  throttle       20 × 100000, 1
  head-rest      20 × 200000, 50, TCP_NODELAY
  sync-ack       50 × 1000000, 50
  async-ack      20 × 2000000, 150
  best           20 × 10000000, 16384

How to read it:
  messages per second    of a round, from its first write to its last answer: median,
                         slowest and fastest round
  from write to answer   from the start of a write to the read of the answer to a message in
                         it; without --window mostly the time in socket buffers
  Every answer is verified: each message is covered once, in order.

Exit status:
  0    all messages were sent and answered
  1    a connection failed; the results before are printed
  2    invalid arguments, or no TLS connection to this server
  130  interrupted; the results before are printed";

#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Load {
    /// Set the server's host and port [default: 127.0.0.1 and the port of the strategy]
    #[arg(value_name = "ADDRESS")]
    address: Option<String>,

    /// Choose the server's strategy, and with it the preset: request-reply, throttle, head-rest, sync-ack, async-ack or
    /// best
    #[arg(long, value_name = "NAME", default_value = "best", value_parser = str::parse::<Strategy>)]
    strategy: Strategy,

    /// Send everything this many times
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    rounds: Option<u32>,

    /// Send this many messages per round and connection
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = large_count)]
    messages: Option<u64>,

    /// Set the payload size in bytes, without the 12-byte header [default: 5]
    #[arg(long, value_name = "BYTES")]
    size: Option<u32>,

    /// Send this many messages per write
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    batch: Option<u32>,

    /// Limit unanswered messages per connection, or none for no limit [default: none]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = window)]
    window: Option<Bound>,

    /// Poll for answers every this many milliseconds while there is data to write [default: 1]
    #[arg(long, value_name = "MS", allow_negative_numbers = true, value_parser = positive)]
    poll: Option<f64>,

    /// Set TCP_NODELAY [default: no, except for head-rest]
    #[arg(long, value_name = "YES|NO", num_args = 0..=1, default_missing_value = "yes", require_equals = true, value_parser = one_of([("yes", true), ("no", false)]))]
    nodelay: Option<bool>,

    /// Open this many connections, each on a dedicated thread [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = count)]
    connections: Option<u32>,

    /// Open a session with this ack level on each connection; only with best
    #[arg(long, value_name = "LEVEL", value_parser = one_of(LEVELS))]
    session: Option<Level>,

    /// Give up if the server does not respond for this many seconds [default: 10]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive)]
    timeout: Option<f64>,

    /// Use TLS 1.3 and trust the CA certificates in this PEM file
    #[arg(long, value_name = "FILE", help_heading = "TLS")]
    tls_ca: Option<PathBuf>,

    /// Expect this name or address in the server's certificate [default: the host in ADDRESS]
    #[arg(long, value_name = "NAME", help_heading = "TLS", requires = "tls_ca")]
    tls_name: Option<String>,

    /// Present this certificate chain, a PEM file, to a server that requires one
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires_all = ["tls_ca", "tls_key"])]
    tls_cert: Option<PathBuf>,

    /// Use this unencrypted PEM private key for the certificate
    #[arg(long, value_name = "FILE", help_heading = "TLS", requires = "tls_cert")]
    tls_key: Option<PathBuf>,

    /// Also write the results to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// A limit, or `None` for no limit.
#[derive(Debug, Clone, Copy)]
struct Bound(Option<u64>);

impl Load {
    fn plan(&self) -> Result<Plan, PemError> {
        let preset = Plan::classic(self.strategy);
        Ok(Plan {
            strategy: self.strategy,
            address: self.address.clone().unwrap_or(preset.address),
            connections: self.connections.unwrap_or(preset.connections),
            rounds: self.rounds.unwrap_or(preset.rounds),
            messages: self.messages.unwrap_or(preset.messages),
            size: self.size.unwrap_or(preset.size),
            batch: self.batch.unwrap_or(preset.batch),
            window: self.window.map_or(preset.window, |Bound(window)| window),
            poll_interval: self
                .poll
                .map_or(preset.poll_interval, |millis| Duration::from_secs_f64(millis / 1e3)),
            nodelay: self.nodelay.unwrap_or(preset.nodelay),
            level: self.session,
            timeout: self.timeout.map_or(preset.timeout, Duration::from_secs_f64),
            tls: self.tls()?,
        })
    }

    fn tls(&self) -> Result<Option<Tls>, PemError> {
        let Some(authorities) = &self.tls_ca else { return Ok(None) };
        let mut tls = Tls::from_pem(authorities)?;
        if let Some(name) = &self.tls_name {
            tls = tls.server_name(name);
        }
        if let (Some(certificates), Some(key)) = (&self.tls_cert, &self.tls_key) {
            tls = tls.identity(certificates, key)?;
        }
        Ok(Some(tls))
    }
}

/// Runs the command. Returns the exit status.
pub(crate) fn load(options: &Load) -> Result<u8, Problem> {
    let plan = options.plan().map_err(problem)?;
    plan.check().map_err(problem)?;
    if let Some(path) = &options.json {
        store::probe(path)?;
    }
    // One blocking thread per connection, and one for name resolution.
    let threads = plan.connections as usize + 1;
    let runtime = Builder::new_current_thread().max_blocking_threads(threads).enable_all().build();
    let runtime =
        runtime.map_err(|error| Problem::new(format!("cannot start threads: {error}")))?;
    let ended = runtime.block_on(run(plan));
    // WHY: the drop of the runtime would wait for a name resolution that is blocked.
    runtime.shutdown_background();
    let Some((run, status)) = ended? else { return Ok(INTERRUPTED) };
    let summary = run.summary();
    print(&summary.to_string())?;
    if let Some(path) = &options.json {
        store::write(path, &format!("{:#}\n", summary.to_json()))?;
    }
    Ok(status)
}

/// Runs all rounds, or until a failure or interruption. Returns `None` if it was interrupted before connecting.
async fn run(plan: Plan) -> Result<Option<(Run, u8)>, Problem> {
    let rounds = plan.rounds;
    let mut end = pin!(shutdown_signal()?);
    let connected = tokio::select! {
        connected = Run::connect(plan) => connected,
        () = &mut end => return Ok(None),
    };
    let mut run = connected.map_err(problem)?;
    let mut line = Line::new(run.live());
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Skip);
    for number in 1..=rounds {
        let done = {
            let mut round = pin!(run.round());
            loop {
                tokio::select! {
                    done = &mut round => break Some(done),
                    _ = tick.tick() => line.show(number, rounds),
                    () = &mut end => break None,
                }
            }
        };
        let status = match done {
            Some(Ok(_)) => continue,
            // WHY without results: no TLS connection was established, so nothing was sent.
            Some(Err(LoadError::Failed(failed))) if failed.is_insecure() => {
                return Err(problem(failed));
            }
            Some(Err(error)) => line.failed(&error),
            None => INTERRUPTED,
        };
        return Ok(Some((run, status)));
    }
    let status = run.finish().await.map_or_else(|error| line.failed(&error), |()| 0);
    Ok(Some((run, status)))
}

/// Live line of rates; shown on a terminal only.
struct Line {
    bar: ProgressBar,
    live: Live,
    last: Instant,
    answered: u64,
}

impl Line {
    fn new(live: Live) -> Self {
        let bar = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{wide_msg}") {
            bar.set_style(style);
        }
        Self { bar, live, last: Instant::now(), answered: 0 }
    }

    fn show(&mut self, round: u32, rounds: u32) {
        let (now, answered) = (Instant::now(), self.live.answered().messages);
        let seconds = now.duration_since(self.last).as_secs_f64();
        let rate = (answered - self.answered) as f64 / seconds.max(1e-9);
        (self.last, self.answered) = (now, answered);
        let rate = short(rate);
        let total = short(answered as f64);
        self.bar.set_message(format!(
            "round {round} of {rounds}: {rate} messages per second, {total} answered"
        ));
        self.bar.tick();
    }

    /// Prints the error. Returns the exit status.
    fn failed(&self, error: &LoadError) -> u8 {
        self.bar.finish_and_clear();
        print_error(&format!("purlin: {error}"));
        1
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Parses a number of messages or `none`.
fn window(text: &str) -> Result<Bound, String> {
    match (text, large_count(text)) {
        ("none", _) => Ok(Bound(None)),
        (_, Ok(number)) => Ok(Bound(Some(number))),
        _ => Err("give a whole number from 1, or none".into()),
    }
}
