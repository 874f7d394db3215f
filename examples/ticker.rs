//! The complete application of the guide: a ticker, which keeps the last price of each share.
//!
//! Programs send trades such as `ACME 1250` over TCP with `purlin-ack`. A trade is acknowledged once
//! it is in the journal. Subscribers of a symbol receive its trades; processes of Rust, Erlang and
//! Elixir call the market.
//!
//! ```text
//! application "ticker"
//! └─ supervisor, rest for one
//!    ├─ market   server: owns the journal and the prices
//!    └─ trades   ack server: accepts trades
//! ```
//!
//! They stop in reverse start order: when the market stops, no connection is left that could send
//! it a trade.
//!
//! Run it with `cargo run -p purlin-cli --example ticker`, followed by `--`, the path of the journal
//! and, to join an Erlang cluster, the name of the node, such as `ticker@127.0.0.1`. The cookie is
//! in `TICKER_COOKIE`. Stop it with `kill` or Ctrl-C.

use std::collections::HashMap;
use std::convert::Infallible;
use std::env;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Duration;

use purlin::application::{self, ApplicationSpec};
use purlin::pg::Groups;
use purlin::server::{self, Init, Mail, Next, Server, ServerRef};
use purlin::supervisor::{ChildSpec, SupervisorSpec};
use purlin::{Exit, ExitReason, Node, Process, Reply};
use purlin_ack::handler::{Batch, Handler, Unhandled};
use purlin_ack::wire::{Reason, Refusal};
use purlin_dist::cluster::{Cluster, Served};
use purlin_dist::epmd;
use purlin_observer::Observed as _;
use serde::{Deserialize, Serialize};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// A trade. In Erlang: `#{symbol => <<"ACME">>, price => 1250}`.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Trade {
    symbol: String,
    /// In cents.
    price: u32,
}

impl FromStr for Trade {
    type Err = ();

    /// Parses `ACME 1250`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let (symbol, price) = text.split_once(' ').ok_or(())?;
        let price = price.parse().map_err(|_| ())?;
        let valid = price > 0 && !symbol.is_empty() && symbol.chars().all(char::is_alphanumeric);
        valid.then(|| Self { symbol: symbol.into(), price }).ok_or(())
    }
}

/// State of the market.
#[derive(Debug)]
struct Market {
    journal: File,
    prices: HashMap<String, u32>,
    /// Callers that wait for the next trade of a symbol.
    waiting: HashMap<String, Vec<Reply<u32>>>,
    /// Subscribers of each symbol, on all nodes.
    subscribers: Groups,
}

/// Calls of the market.
#[derive(Debug)]
enum Call {
    /// Writes trades to the journal and publishes them.
    Record(Vec<Trade>, Reply<()>),
    /// Returns the last price.
    Price(String, Reply<Option<u32>>),
    /// Returns the price of the next trade.
    Next(String, Reply<u32>),
}

/// Continuation after `init`: reads the prices from the journal.
#[derive(Debug)]
struct ReadJournal(PathBuf);

impl Server for Market {
    type Args = PathBuf;
    type Call = Call;
    type Cast = Infallible;
    type Info = Exit;
    type Continue = ReadJournal;

    async fn init(path: PathBuf, me: &mut Process<Mail<Self>>) -> server::Result<Init<Self>> {
        // From now on an exit signal of the supervisor calls `terminate`.
        me.trap_exit(true);
        let market = Self {
            journal: OpenOptions::new().create(true).append(true).open(&path)?,
            prices: HashMap::new(),
            waiting: HashMap::new(),
            subscribers: Groups::find("ticker").await?,
        };
        Ok(Init::Then(market, Next::Continue(ReadJournal(path))))
    }

    async fn handle_continue(
        &mut self,
        ReadJournal(path): ReadJournal,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        let journal = fs::read(path)?;
        // An incomplete line at the end was never acknowledged; the next trade must not continue it.
        let whole = journal.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        self.journal.set_len(whole as u64)?;
        let journal = String::from_utf8_lossy(&journal[..whole]);
        let trades = journal.lines().filter_map(|line| line.parse::<Trade>().ok());
        self.prices = trades.map(|trade| (trade.symbol, trade.price)).collect();
        Ok(Next::Wait)
    }

    async fn handle_call(
        &mut self,
        call: Call,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        match call {
            Call::Record(trades, reply) => {
                let lines =
                    trades.iter().map(|trade| format!("{} {}\n", trade.symbol, trade.price));
                self.journal.write_all(lines.collect::<String>().as_bytes())?;
                reply.send(());
                trades.into_iter().for_each(|trade| self.publish(trade));
            }
            Call::Price(symbol, reply) => reply.send(self.prices.get(&symbol).copied()),
            Call::Next(symbol, reply) => {
                let waiting = self.waiting.entry(symbol).or_default();
                waiting.retain(Reply::is_wanted);
                waiting.push(reply);
            }
        }
        Ok(Next::Wait)
    }

    async fn handle_info(
        &mut self,
        exit: Exit,
        _me: &mut Process<Mail<Self>>,
    ) -> server::Result<Next<Self>> {
        Ok(Next::Stop(exit.reason))
    }

    async fn terminate(&mut self, _reason: &ExitReason, _me: &mut Process<Mail<Self>>) {
        if let Err(error) = self.journal.sync_all() {
            eprintln!("ticker: the journal may be incomplete: {error}");
        }
    }
}

impl Market {
    /// Stores the price, replies to waiting callers, and sends the trade to the subscribers.
    fn publish(&mut self, trade: Trade) {
        for reply in self.waiting.remove(&trade.symbol).unwrap_or_default() {
            reply.send(trade.price);
        }
        for subscriber in self.subscribers.members::<Trade>(&trade.symbol) {
            subscriber.send(trade.clone());
        }
        self.prices.insert(trade.symbol, trade.price);
    }
}

/// Handler of a connection: passes trades to the market and refuses everything else.
struct Trades;

impl Handler for Trades {
    async fn handle(&mut self, batch: Batch<'_>) -> Result<(), Unhandled> {
        let (mut trades, mut refused) = (Vec::new(), Vec::new());
        for frame in batch.frames() {
            match std::str::from_utf8(frame.payload).map(str::parse) {
                Ok(Ok(trade)) => trades.push(trade),
                _ => refused.push(Refusal { id: frame.id.number(), reason: Reason::NOT_TAKEN }),
            }
        }
        record(trades).await.map_err(|error| Unhandled::Failed(ExitReason::error(error)))?;
        if refused.is_empty() { Ok(()) } else { Err(Unhandled::Refused(refused)) }
    }
}

async fn record(trades: Vec<Trade>) -> Result<(), Failure> {
    let market = ServerRef::<Market>::whereis("market")?;
    Ok(market.call(|reply| Call::Record(trades, reply)).await?)
}

/// Request of a process in Erlang or Elixir, such as `{price, <<"ACME">>}`.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Request {
    Price(String),
    Next(String),
}

/// Joins the cluster of this host: the market can be called, and groups include other nodes.
async fn join(node: &Node, name: &str) -> Result<Cluster, Failure> {
    let port = env::var("ERL_EPMD_PORT").map_or(Ok(epmd::PORT), |port| port.parse())?;
    let cluster = Cluster::builder(name.parse()?).cookie(env::var("TICKER_COOKIE")?);
    let cluster = cluster.epmd(([127, 0, 0, 1], port).into()).start(node).await?;
    cluster.serves(Served::<Market>::new().calls(|request, caller| match request {
        Request::Price(symbol) => Call::Price(symbol, caller.reply()),
        Request::Next(symbol) => Call::Next(symbol, caller.reply()),
    }));
    cluster.share_groups::<Trade>("ticker").await?;
    Ok(cluster)
}

async fn run(node: &Node, journal: PathBuf, name: Option<&str>) -> Result<ExitCode, Failure> {
    let _subscribers = Groups::start("ticker").await?;
    let _cluster = match name {
        Some(name) => Some(join(node, name).await?),
        None => None,
    };
    let listening = purlin_ack::server::Server::builder(([127, 0, 0, 1], 0).into());
    let (trades, door) = listening.handler(|_peer| Trades).listen()?.into_parts();
    println!("trades on {}", door.local_addr());
    Ok(application::run(ticker(journal, trades)).await)
}

fn ticker(journal: PathBuf, trades: SupervisorSpec) -> ApplicationSpec {
    let tree = SupervisorSpec::rest_for_one()
        .child(ChildSpec::server("market", move |me| {
            server::start_link::<Market>(me, journal.clone()).name("market")
        }))
        .child(ChildSpec::supervisor("trades", trades));
    ApplicationSpec::new("ticker", tree)
        .shutdown(Duration::from_secs(10))
        .prep_stop(async || println!("stopping"))
        .stop(async || println!("stopped"))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (journal, name) = match &arguments[..] {
        [journal] => (journal.into(), None),
        [journal, name] => (journal.into(), Some(name.clone())),
        _ => {
            eprintln!(
                "ticker: {arguments:?} is no journal: give its path, and a node name if wanted"
            );
            return ExitCode::from(2);
        }
    };
    let result = Node::builder().name("ticker").observer(([127, 0, 0, 1], 0)).build();
    let result = result.map_err(Failure::from).and_then(|node| {
        let inside = node.clone();
        let result = node
            .block_on(async move |_me: Process<()>| run(&inside, journal, name.as_deref()).await);
        node.stop_blocking();
        result
    });
    result.unwrap_or_else(|error| {
        eprintln!("ticker: {error}");
        ExitCode::from(2)
    })
}
