//! The server that a contender runs for the lab: one at a time, from `serve` to `stop`.
//!
//! Used by the serving loop, on its thread.

use std::fmt;
use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::acks::Serve;

/// A server that runs until it is stopped. If this value is dropped the program is about to end.
pub struct Running {
    address: SocketAddr,
    stop: Box<dyn FnOnce() -> Result<u64, String>>,
}

impl Running {
    /// A server that listens there. `stop` waits until all that was read is acknowledged and all
    /// connections are closed, and tells how many messages were acknowledged since the start.
    #[must_use]
    pub fn new(
        address: SocketAddr,
        stop: impl FnOnce() -> Result<u64, String> + 'static,
    ) -> Running {
        Running { address, stop: Box::new(stop) }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The servers of a contender: those that it offers, and the one that runs.
pub(crate) struct Servers<'a, S> {
    pub(crate) offered: &'a [&'static str],
    pub(crate) start: S,
    pub(crate) running: Option<Running>,
}

impl<S: FnMut(Serve) -> Result<Running, String>> Servers<'_, S> {
    pub(crate) fn serve(&mut self, asked: Serve) -> Result<Value, String> {
        if !self.offered.contains(&asked.experiment) {
            return Err(match self.offered {
                [] => "this contender has no servers".to_owned(),
                offered => format!(
                    "unknown experiment {:?}; this contender serves {}",
                    asked.experiment,
                    offered.join(", ")
                ),
            });
        }
        if let Some(Running { address, .. }) = &self.running {
            return Err(format!("a server runs already, at {address}; stop it first"));
        }
        let running = self.running.insert((self.start)(asked)?);
        Ok(json!({"address": running.address.to_string()}))
    }

    pub(crate) fn stop(&mut self) -> Result<Value, String> {
        let running = self.running.take().ok_or("no server runs that could be stopped")?;
        (running.stop)().map(|received| json!({"received": received}))
    }
}
