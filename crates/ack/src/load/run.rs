//! Runs a load round by round.

use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::connection::{Broken, Connection};
use super::counters::{Answered, Counters};
use super::error::{Failed, LoadError};
use super::plan::Plan;
use super::summary::{Round, Summary};

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
