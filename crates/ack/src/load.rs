//! Load generator for servers of all six strategies.
//!
//! A program connects a [`Load`] and runs it round by round; a round ends when all its messages are
//! answered. All answers are verified. The results are available as text and JSON. The
//! command line is `purlin ack load`.
//!
//! | module | role |
//! |---|---|
//! | `plan` | presets and parameters; pure |
//! | `block` | prebuilt write; pure |
//! | `in_flight` | in-flight messages: verifies answers; pure |
//! | `connection` | write, read and wait loop |
//! | `socket` | TCP or TLS socket |
//! | `counters` | counters of all connections |
//! | `summary`, `report`, `json` | report; pure |
//!
//! TLS differs only inside `socket`.
//!
//! Connecting and waiting use the tokio runtime of the caller. Rounds run on the blocking threads
//! of that runtime, one per connection; if it has fewer threads, some connections wait until others
//! are done.

mod block;
mod connection;
mod counters;
mod in_flight;
mod json;
mod plan;
mod report;
mod socket;
mod summary;

use std::fmt;
use std::io::ErrorKind;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

pub use counters::Answered;
pub use plan::{BadPlan, Plan};
pub use report::short;
pub use summary::{Spread, Summary};

use crate::client::{ConnectError, Lost};
use connection::{Broken, Connection};
use counters::Counters;

/// A running load.
///
/// ```no_run
/// use purlin_ack::load::{Load, Plan};
/// use purlin_ack::strategy::Strategy;
///
/// # async fn measure() -> Result<(), Box<dyn std::error::Error>> {
/// let plan = Plan { rounds: 3, ..Plan::classic(Strategy::SyncAck) };
/// let mut load = Load::connect(plan).await?;
/// while let Some(round) = load.round().await? {
///     println!("{:.0} messages per second", round.per_second());
/// }
/// load.finish().await?;
/// print!("{}", load.summary());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Load {
    plan: Plan,
    connections: Vec<Connection>,
    counters: Arc<Counters>,
    rounds: Vec<Round>,
    failure: Option<String>,
}

/// Result of one round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Messages sent on all connections, all of them answered.
    pub messages: u64,
    /// Time from the first write to the last answer.
    pub time: Duration,
}

impl Round {
    /// Returns the messages per second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.messages as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// Progress of a running load. May be read from any thread.
#[derive(Clone, Debug)]
pub struct Live(Arc<Counters>);

impl Live {
    /// Returns the answers received so far.
    #[must_use]
    pub fn answered(&self) -> Answered {
        self.0.answered()
    }
}

impl Load {
    /// Makes all connections, and opens a session on each if the plan has one.
    ///
    /// # Errors
    /// Returns [`LoadError`] if the plan is invalid or a connection cannot be made.
    pub async fn connect(plan: Plan) -> Result<Self, LoadError> {
        plan.check().map_err(LoadError::Plan)?;
        let counters = Arc::new(Counters::new());
        let mut connections = Vec::new();
        for number in 1..=plan.connections {
            let opened = Connection::open(&plan, number, Arc::clone(&counters)).await;
            connections.push(opened.map_err(|broken| Failed::of(&plan, broken))?);
        }
        Ok(Self { plan, connections, counters, rounds: Vec::new(), failure: None })
    }

    /// Returns a handle to the progress of the load.
    #[must_use]
    pub fn live(&self) -> Live {
        Live(Arc::clone(&self.counters))
    }

    /// Runs the next round. Returns `None` if all rounds are done.
    ///
    /// Dropping the future closes the connections, and no further round runs.
    ///
    /// # Errors
    /// Returns [`LoadError`] if a connection fails. The other connections are closed, and no
    /// further round runs.
    pub async fn round(&mut self) -> Result<Option<Round>, LoadError> {
        if self.connections.is_empty() || self.rounds.len() >= self.plan.rounds as usize {
            return Ok(None);
        }
        let messages = self.plan.messages;
        let laps = self.all(move |connection| connection.round(messages)).await?;
        let (connections, laps): (Vec<_>, Vec<_>) = laps.into_iter().unzip();
        self.connections = connections;
        let began = laps.iter().map(|lap| lap.began).min();
        let ended = laps.iter().map(|lap| lap.ended).max();
        let time = began.zip(ended).map_or(Duration::ZERO, |(began, ended)| ended - began);
        let round = Round { messages: messages * laps.len() as u64, time };
        self.rounds.push(round);
        Ok(Some(round))
    }

    /// Closes all connections and checks that no answer arrives for a message that was not sent.
    ///
    /// Waits for at most 1 s for the server to close its side.
    ///
    /// # Errors
    /// Returns [`LoadError`] if there were more answers than messages.
    pub async fn finish(&mut self) -> Result<(), LoadError> {
        self.all(Connection::finish).await.map(|_| ())
    }

    /// Returns the results so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            plan: self.plan.clone(),
            rounds: self.rounds.clone(),
            answered: self.counters.answered(),
            latency: self.counters.latency(),
            failure: self.failure.clone(),
        }
    }

    /// Runs `act` on all connections in parallel, each on a blocking thread.
    async fn all<T, F>(&mut self, act: F) -> Result<Vec<T>, LoadError>
    where
        T: Send + 'static,
        F: Fn(Connection) -> Result<T, Broken> + Copy + Send + 'static,
    {
        let mut open = Open(self.connections.iter().map(Connection::stream).collect());
        let mut under_way = JoinSet::new();
        for connection in self.connections.drain(..) {
            under_way.spawn_blocking(move || act(connection));
        }
        let mut done = Vec::with_capacity(under_way.len());
        while let Some(joined) = under_way.join_next().await {
            match joined {
                Ok(Ok(one)) => done.push(one),
                Ok(Err(broken)) => {
                    let failed = Failed::of(&self.plan, broken);
                    self.failure = Some(failed.to_string());
                    return Err(failed.into());
                }
                // WHY: a task ends without output only after a panic, which the caller must see.
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            }
        }
        open.0.clear();
        Ok(done)
    }
}

/// Closes the connections when dropped, so that no thread keeps waiting for them.
struct Open(Vec<Arc<TcpStream>>);

impl Drop for Open {
    fn drop(&mut self) {
        for stream in &self.0 {
            // A stream that is already closed needs nothing.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Why a load failed.
#[derive(Debug)]
pub enum LoadError {
    /// The plan is invalid.
    Plan(BadPlan),
    /// A connection failed.
    Failed(Failed),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(bad) => bad.fmt(f),
            Self::Failed(failed) => failed.fmt(f),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Plan(bad) => Some(bad),
            Self::Failed(failed) => Some(failed),
        }
    }
}

impl From<Failed> for LoadError {
    fn from(failed: Failed) -> Self {
        Self::Failed(failed)
    }
}

/// A failed connection of a load.
#[derive(Debug)]
pub struct Failed {
    /// Address of the server.
    pub address: String,
    /// Number of the connection, from 1, and number of connections.
    pub connection: (u32, u32),
    /// Number of messages answered, and number of messages begun.
    pub answered: (u64, u64),
    /// Why the connection failed.
    pub why: ConnectError,
}

impl Failed {
    fn of(plan: &Plan, broken: Broken) -> Self {
        let Broken { number, answered, begun, why } = broken;
        let address = plan.address.clone();
        Self { address, connection: (number, plan.connections), answered: (answered, begun), why }
    }

    /// Whether TLS failed before any message was answered. A server that requires a client
    /// certificate may report a missing one only when the client reads, in the first round.
    #[must_use]
    pub fn is_insecure(&self) -> bool {
        let (answered, _) = self.answered;
        let of_tls = matches!(&self.why, ConnectError::Lost(Lost::Io(error))
            if error.kind() == ErrorKind::InvalidData);
        answered == 0 && of_tls
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { address, connection: (number, of), answered: (answered, begun), why } = self;
        write!(f, "{address}: {why}")?;
        match (of, begun) {
            (1, 0) => Ok(()),
            (_, 0) => write!(f, " (connection {number} of {of})"),
            (1, _) => write!(f, " ({answered} of {begun} messages were answered)"),
            _ => write!(
                f,
                " (connection {number} of {of}, {answered} of {begun} messages were answered)"
            ),
        }
    }
}

impl std::error::Error for Failed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.why)
    }
}
