//! Requests of the experiments with servers over TCP: what a contender serves, and what the load
//! client sends.
//!
//! `docs/ack/protocol.md` defines the wire protocol. Pure: parses parameters to a typed request or
//! to a one-line error.

use std::net::SocketAddr;

use serde_json::{Map, Value};

use crate::params::{BATCH_MAX, CONNECTIONS_MAX, CORES_MAX, MESSAGES_MAX, Params, SIZE_MAX};

/// The experiment that compares two strategies; the variant selects the strategy.
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

/// Variants of [`SYNC_OR_ASYNC`], the natural one first, and their strategies.
pub(crate) const EITHER: [(&str, &str); 2] = [("sync-ack", "sync-ack"), ("async-ack", "async-ack")];

/// The experiment in which a server is free in its method; the variant selects how messages are
/// delivered.
pub(crate) const BEST: &str = "ack-best";

/// Variants of [`BEST`], the natural one first, and whether a function is called for each message.
pub(crate) const TAKEN: [(&str, bool); 2] = [("batch", false), ("each", true)];

/// Request to start a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Serve {
    /// The experiment's name in the protocol.
    pub experiment: &'static str,
    /// The strategy for reading and acknowledging: the experiment's name without `ack-`, or its
    /// variant.
    pub strategy: &'static str,
    /// Whether each message is delivered to a function of a user process, instead of only being
    /// counted.
    pub each: bool,
    /// Number of cores its processes run on; `None` for the default.
    pub cores: Option<u64>,
}

impl Serve {
    /// Parses the parameters of one experiment and checks each of them.
    ///
    /// # Errors
    ///
    /// Returns one line that names the wrong experiment or parameter and the valid values.
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

/// Request to the load client: one round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Load {
    /// The server's strategy, as in [`Serve`]. For an experiment with two strategies it is the
    /// natural one, because the client sends the same to both.
    pub strategy: &'static str,
    /// The server's address.
    pub address: SocketAddr,
    /// Number of concurrent connections, at least 1.
    pub connections: u64,
    /// Messages per connection, at least 1.
    pub messages: u64,
    /// Payload size in bytes.
    pub size: u64,
    /// Messages per write, at least 1.
    pub batch: u64,
}

impl Load {
    /// Parses the parameters of one experiment and checks each of them.
    ///
    /// # Errors
    ///
    /// Returns one line that names the wrong experiment or parameter and the valid values.
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

    /// Returns the number of messages on all connections.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.connections * self.messages
    }
}

/// Returns the experiment's name with static lifetime.
fn known(experiment: &str) -> Result<&'static str, String> {
    SERVED.into_iter().find(|known| *known == experiment).ok_or_else(|| {
        let served = SERVED.join(", ");
        format!("unknown experiment {experiment:?}; those with a server are {served}")
    })
}

/// Returns the strategy an experiment is named after.
fn named(experiment: &'static str) -> &'static str {
    experiment.trim_start_matches("ack-")
}

const _: () = assert!(CONNECTIONS_MAX as u128 * (MESSAGES_MAX as u128) < 1 << 63);
