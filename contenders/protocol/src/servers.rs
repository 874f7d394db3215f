//! Servers of a contender, and its running server or far node: at most one, from `serve` to `stop`.
//!
//! Used by the serving loop, on its thread.

use serde_json::{Value, json};

use crate::acks::Serve;
use crate::nodes::{Far, Nodes};
use crate::running::Running;

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
