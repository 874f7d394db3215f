//! The experiments with servers over TCP: what a contender is asked to serve, and what the one client
//! is asked to send it.
//!
//! What is on the wire is in `docs/ack/protocol.md`. Pure: parameters in, a typed request or one line
//! of complaint out.

use std::net::SocketAddr;

use serde_json::{Map, Value};

use crate::params::{BATCH_MAX, CONNECTIONS_MAX, CORES_MAX, MESSAGES_MAX, Params, SIZE_MAX};

/// The experiment that compares two strategies: which of them is asked for is its variant.
pub(crate) const SYNC_OR_ASYNC: &str = "ack-sync-or-async";

/// The experiments with a server, in the order of the protocol's table.
pub const SERVED: [&str; 7] = [
    "ack-request-reply",
    "ack-throttle",
    "ack-head-rest",
    "ack-sync-ack",
    "ack-async-ack",
    BEST,
    SYNC_OR_ASYNC,
];

/// The variants of [`SYNC_OR_ASYNC`], the natural one first: strategies.
pub(crate) const EITHER: [(&str, &str); 2] = [("sync-ack", "sync-ack"), ("async-ack", "async-ack")];

/// The experiment in which a server does what it likes: to whom the messages go is its variant.
pub(crate) const BEST: &str = "ack-best";

/// The variants of [`BEST`], the natural one first: whether there is to be a call for each message.
pub(crate) const TAKEN: [(&str, bool); 2] = [("batch", false), ("each", true)];

/// What a contender is asked to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serve {
    /// The experiment's name in the protocol.
    pub experiment: &'static str,
    /// How it is to read and acknowledge: the experiment's name without `ack-`, or its variant.
    pub strategy: &'static str,
    /// Whether each message is to be handed to a function of a process of the user's, and not
    /// only counted.
    pub each: bool,
    /// On how many cores its processes are to run; on as many as by default where none is told.
    pub cores: Option<u64>,
}

impl Serve {
    /// Reads the parameters of one experiment and checks every one of them.
    ///
    /// # Errors
    ///
    /// One line that says which experiment or parameter is wrong and what would be right.
    pub fn parse(experiment: &str, params: &Map<String, Value>) -> Result<Serve, String> {
        let experiment = known(experiment)?;
        let mut p = Params::new(experiment, params);
        let strategy = match experiment {
            SYNC_OR_ASYNC => p.choice_or("variant", &EITHER, EITHER[0].1)?,
            _ => named(experiment),
        };
        let each = match experiment {
            BEST => p.choice_or("variant", &TAKEN, TAKEN[0].1)?,
            _ => false,
        };
        let cores = p.integer_or_none("cores", 1, CORES_MAX)?;
        p.finish()?;
        Ok(Serve { experiment, strategy, each, cores })
    }
}

/// What the client is asked to send: one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// How the server reads and acknowledges, as in [`Serve`]; where it is one of two, the natural
    /// one, for a client sends the same to both.
    pub strategy: &'static str,
    /// Where it listens.
    pub address: SocketAddr,
    /// Connections at the same time, at least one.
    pub connections: u64,
    /// Messages on each of them, at least one.
    pub messages: u64,
    /// Bytes of a payload.
    pub size: u64,
    /// Messages in a write, at least one.
    pub batch: u64,
}

impl Load {
    /// Reads the parameters of one experiment and checks every one of them.
    ///
    /// # Errors
    ///
    /// One line that says which experiment or parameter is wrong and what would be right.
    pub fn parse(experiment: &str, params: &Map<String, Value>) -> Result<Load, String> {
        let experiment = known(experiment)?;
        let mut p = Params::new(experiment, params);
        let load = Load {
            strategy: if experiment == SYNC_OR_ASYNC { EITHER[0].1 } else { named(experiment) },
            address: p.address("address")?,
            connections: p.integer("connections", 1, CONNECTIONS_MAX)?,
            messages: p.integer("messages", 1, MESSAGES_MAX)?,
            size: p.integer("size", 0, SIZE_MAX)?,
            batch: p.integer("batch", 1, BATCH_MAX)?,
        };
        p.finish()?;
        Ok(load)
    }

    /// Messages on all connections.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.connections * self.messages
    }
}

/// The experiment's own name, which is there for as long as the program.
fn known(experiment: &str) -> Result<&'static str, String> {
    SERVED.into_iter().find(|known| *known == experiment).ok_or_else(|| {
        let served = SERVED.join(", ");
        format!("unknown experiment {experiment:?}; those with a server are {served}")
    })
}

/// The strategy that an experiment is named after.
fn named(experiment: &'static str) -> &'static str {
    experiment.trim_start_matches("ack-")
}

const _: () = assert!(CONNECTIONS_MAX as u128 * (MESSAGES_MAX as u128) < 1 << 63);
