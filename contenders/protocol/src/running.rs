//! The running server or far node of a contender: at most one, from `serve` to `stop`.
//!
//! Used by the serving loop, on its thread.

use std::fmt;

use serde_json::{Value, json};

use crate::acks::Serve;
use crate::nodes::{Far, Nodes};

/// A running server or far node. It is dropped without being stopped only when the program is about to exit.
pub struct Running {
    address: String,
    stop: Box<dyn FnOnce() -> Result<u64, String>>,
}

impl Running {
    /// Creates a handle to a server at this address, or to a node of this name. `stop` returns the number of messages
    /// acknowledged or accepted since the start; a server first waits until everything it has read is acknowledged and
    /// all connections are closed.
    #[must_use]
    pub fn new(
        address: impl fmt::Display,
        stop: impl FnOnce() -> Result<u64, String> + 'static,
    ) -> Running {
        Running { address: address.to_string(), stop: Box::new(stop) }
    }
}

impl fmt::Debug for Running {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("address", &self.address).finish_non_exhaustive()
    }
}

/// The servers a contender offers, and the running one.
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
        self.alone()?;
        let started = (self.start)(asked)?;
        Ok(self.runs(started))
    }

    /// Starts the far node of two, unless a server runs.
    pub(crate) fn take(&mut self, nodes: &mut impl Nodes, asked: Far) -> Result<Value, String> {
        self.alone()?;
        let started = nodes.take(asked)?;
        Ok(self.runs(started))
    }

    fn alone(&self) -> Result<(), String> {
        match &self.running {
            Some(Running { address, .. }) => {
                Err(format!("a server runs already, at {address}; stop it first"))
            }
            None => Ok(()),
        }
    }

    fn runs(&mut self, started: Running) -> Value {
        json!({"address": self.running.insert(started).address})
    }

    pub(crate) fn stop(&mut self) -> Result<Value, String> {
        let running = self.running.take().ok_or("no server runs that could be stopped")?;
        (running.stop)().map(|received| json!({"received": received}))
    }
}
