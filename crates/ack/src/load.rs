//! A load: sends as much as there can be to a server of any of the six strategies, and measures.
//!
//! A program connects a [`Load`] and asks it for one round after the other; a
//! round ends when everything in it is answered. All answers are verified. What
//! was found is told as text or JSON. `purlin ack load` is this with words.
//!
//! | module | role |
//! |---|---|
//! | `plan` | presets and knobs; pure |
//! | `block` | a prebuilt write; pure |
//! | `account` | what is begun and what of it is answered; verifies; pure |
//! | `connection` | when it writes, reads and waits |
//! | `socket` | that it does, over TCP or TLS |
//! | `tally` | what all connections have been answered |
//! | `summary`, `shown`, `json` | what was found; pure |
//!
//! Over TLS it is the same load: what differs is within `socket`.
//!
//! It connects and waits on whatever runtime of tokio it is called in. Rounds run on
//! that runtime's blocking threads, one for each connection; where it has fewer,
//! some connections wait until others are done.

mod account;
mod block;
mod connection;
mod json;
mod plan;
mod shown;
mod socket;
mod summary;
mod tally;

use std::fmt;
use std::io::ErrorKind;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

pub use plan::{BadPlan, Plan};
pub use shown::short;
pub use summary::{Spread, Summary};
pub use tally::Answered;

use crate::client::{ConnectError, Lost};
use connection::{Broken, Connection};
use tally::Tally;

/// A load under way.
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
    tally: Arc<Tally>,
    rounds: Vec<Round>,
    failure: Option<String>,
}

/// One round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// On all connections, each of them answered.
    pub messages: u64,
    /// From the first write to the last answer.
    pub time: Duration,
}

impl Round {
    /// Messages per second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.messages as f64 / self.time.as_secs_f64().max(1e-9)
    }
}

/// Tells how far a load is while it runs. Any thread may ask.
#[derive(Clone, Debug)]
pub struct Live(Arc<Tally>);

impl Live {
    /// What has been answered so far.
    #[must_use]
    pub fn answered(&self) -> Answered {
        self.0.answered()
    }
}

impl Load {
    /// Makes all connections, and sessions on them if the plan says so.
    ///
    /// # Errors
    /// The plan cannot be carried out, or a connection cannot be made.
    pub async fn connect(plan: Plan) -> Result<Self, LoadError> {
        plan.check().map_err(LoadError::Plan)?;
        let tally = Arc::new(Tally::new());
        let mut connections = Vec::new();
        for number in 1..=plan.connections {
            let opened = Connection::open(&plan, number, Arc::clone(&tally)).await;
            connections.push(opened.map_err(|broken| Failed::of(&plan, broken))?);
        }
        Ok(Self { plan, connections, tally, rounds: Vec::new(), failure: None })
    }

    /// A way to ask how far it is.
    #[must_use]
    pub fn live(&self) -> Live {
        Live(Arc::clone(&self.tally))
    }

    /// Runs the next round; nothing if all are done.
    ///
    /// If the future is dropped the connections are closed, and there are no more rounds.
    ///
    /// # Errors
    /// A connection could not go on. The others are closed, and there are no more rounds.
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

    /// Closes all connections, and makes sure that no answers come to what was not sent.
    ///
    /// Waits for a second at most for the server to close them too.
    ///
    /// # Errors
    /// There were more answers than messages.
    pub async fn finish(&mut self) -> Result<(), LoadError> {
        self.all(Connection::finish).await.map(|_| ())
    }

    /// What has been found so far.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            plan: self.plan.clone(),
            rounds: self.rounds.clone(),
            answered: self.tally.answered(),
            latency: self.tally.latency(),
            failure: self.failure.clone(),
        }
    }

    /// Does it with all connections at the same time, each on a thread.
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
                // WHY: a task ends without an output only by a panic, which is not for us to catch.
                Err(error) => std::panic::resume_unwind(error.into_panic()),
            }
        }
        open.0.clear();
        Ok(done)
    }
}

/// Connections that are closed when this is dropped, so that no thread goes on waiting for them.
struct Open(Vec<Arc<TcpStream>>);

impl Drop for Open {
    fn drop(&mut self) {
        for stream in &self.0 {
            // One that is closed already will do.
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

/// Why a load cannot go on.
#[derive(Debug)]
pub enum LoadError {
    /// It cannot be as it is wanted.
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

/// A connection of a load that could not go on.
#[derive(Debug)]
pub struct Failed {
    /// The server's.
    pub address: String,
    /// Which connection it was, from 1, and of how many.
    pub connection: (u32, u32),
    /// How many of its messages were answered, and how many it had begun to send.
    pub answered: (u64, u64),
    /// What was wrong.
    pub why: ConnectError,
}

impl Failed {
    fn of(plan: &Plan, broken: Broken) -> Self {
        let Broken { number, answered, begun, why } = broken;
        let address = plan.address.clone();
        Self { address, connection: (number, plan.connections), answered: (answered, begun), why }
    }

    /// Whether it failed of TLS, and nothing had been answered on it. A server that demands a
    /// certificate may say so only when the client reads, in the first round.
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
