//! Requests of the experiments with two distribution nodes.
//!
//! `docs/lab/contender-protocol.md` defines the messages between the two nodes. Pure: parses parameters to a typed
//! request or to a one-line error.

use serde_json::{Map, Value};

use crate::params::{COUNT_MAX, Params};
use crate::running::Running;
use crate::sample::Sample;

/// The experiments with two nodes, in the order of the protocol's table.
pub const PAIRED: [&str; 2] = ["dist-send", "dist-round-trip"];

/// Maximum length of a node name and of a cookie, in bytes.
const TEXT_MAX: usize = 255;

/// A contender whose processes can be those of a distribution node. epmd is on 127.0.0.1, at the port given by
/// `ERL_EPMD_PORT`.
pub trait Nodes {
    /// Becomes the far node: a process registered as `lab` accepts messages.
    ///
    /// # Errors
    ///
    /// Returns one line with the reason if it cannot.
    fn take(&mut self, asked: Far) -> Result<Running, String>;

    /// Becomes the near node, sends the messages, and returns the sample.
    ///
    /// # Errors
    ///
    /// Returns one line with the reason if there is no sample.
    fn send(&mut self, asked: Near) -> Result<Sample, String>;
}

/// A contender without distribution.
pub(crate) struct NoNodes;

impl Nodes for NoNodes {
    fn take(&mut self, asked: Far) -> Result<Running, String> {
        Err(format!("unknown experiment {:?}; this contender is no node", asked.experiment))
    }

    fn send(&mut self, asked: Near) -> Result<Sample, String> {
        Err(format!("unknown experiment {:?}; this contender is no node", asked.experiment))
    }
}

/// Request to the far node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Far {
    /// The experiment's name in the protocol.
    pub experiment: &'static str,
    /// Whether each message is answered.
    pub answers: bool,
    /// The cookie shared by the two nodes.
    pub cookie: String,
}

/// Request to the near node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The experiment's name in the protocol.
    pub experiment: &'static str,
    /// Whether each message waits for the answer to the previous one.
    pub answers: bool,
    /// The name of the far node.
    pub node: String,
    /// The cookie shared by the two nodes.
    pub cookie: String,
    /// Number of messages.
    pub n: u64,
}

impl Far {
    /// Parses the parameters of one experiment; returns `None` if the experiment does not use two nodes.
    pub(crate) fn parse(
        experiment: &str,
        params: &Map<String, Value>,
    ) -> Option<Result<Far, String>> {
        let experiment = known(experiment)?;
        let read = || {
            let mut p = Params::new(experiment, params);
            let cookie = p.text("cookie", TEXT_MAX)?;
            p.finish()?;
            Ok(Far { experiment, answers: answers(experiment), cookie })
        };
        Some(read())
    }
}

impl Near {
    /// Parses the parameters of one experiment; returns `None` if the experiment does not use two nodes.
    pub(crate) fn parse(
        experiment: &str,
        params: &Map<String, Value>,
    ) -> Option<Result<Near, String>> {
        let experiment = known(experiment)?;
        let read = || {
            let mut p = Params::new(experiment, params);
            let n = p.integer("n", 0, COUNT_MAX)?;
            let (node, cookie) = (p.text("node", TEXT_MAX)?, p.text("cookie", TEXT_MAX)?);
            p.finish()?;
            Ok(Near { experiment, answers: answers(experiment), node, cookie, n })
        };
        Some(read())
    }
}

/// Returns the experiment's name with static lifetime.
fn known(experiment: &str) -> Option<&'static str> {
    PAIRED.into_iter().find(|known| *known == experiment)
}

fn answers(experiment: &str) -> bool {
    experiment == PAIRED[1]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn params(value: Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn requests_to_both_nodes_say_whether_messages_are_answered() {
        let (node, cookie) = ("far@127.0.0.1".to_owned(), "secret".to_owned());
        for (experiment, answers) in [("dist-send", false), ("dist-round-trip", true)] {
            let far = Far::parse(experiment, &params(json!({"cookie": "secret"})));
            assert_eq!(far, Some(Ok(Far { experiment, answers, cookie: cookie.clone() })));
            let asked = json!({"n": 7, "node": "far@127.0.0.1", "cookie": "secret"});
            let (node, cookie) = (node.clone(), cookie.clone());
            let due = Near { experiment, answers, node, cookie, n: 7 };
            assert_eq!(Near::parse(experiment, &params(asked)), Some(Ok(due)));
        }
        assert_eq!(Far::parse("ping-pong", &Map::new()), None);
    }

    #[test]
    fn missing_and_invalid_parameters_are_named_in_one_line() {
        for (asked, named) in [
            (json!({"cookie": "c", "n": 1}), "\"node\" is missing"),
            (json!({"cookie": "", "n": 1, "node": "a@b"}), "\"cookie\""),
            (json!({"cookie": 5, "n": 1, "node": "a@b"}), "not 5"),
            (json!({"cookie": "c", "node": "a@b"}), "\"n\" is missing"),
            (json!({"cookie": "c", "n": 1, "node": "a@b", "far": 1}), "\"far\""),
            (json!({"cookie": "x".repeat(256), "n": 1, "node": "a@b"}), "255 bytes"),
        ] {
            let refused = Near::parse("dist-send", &params(asked)).unwrap().unwrap_err();
            assert!(refused.contains(named) && !refused.contains('\n'), "{refused}");
        }
    }
}
