//! The experiments with two nodes of a cluster: what the far one is asked to take, and the near one to
//! send.
//!
//! What the two say to each other is in `docs/lab/contender-protocol.md`. Pure: parameters in, a typed
//! request or one line of complaint out.

use serde_json::{Map, Value};

use crate::params::{COUNT_MAX, Params};
use crate::running::Running;
use crate::sample::Sample;

/// The experiments with two nodes, in the order of the protocol's table.
pub const PAIRED: [&str; 2] = ["dist-send", "dist-round-trip"];

/// The longest name of a node, and the longest cookie, in bytes.
const TEXT_MAX: usize = 255;

/// What a contender does whose processes can be those of a node in a cluster. epmd is on 127.0.0.1, at
/// the port that `ERL_EPMD_PORT` says.
pub trait Nodes {
    /// Becomes the far node: a process with the name `lab` takes what comes.
    ///
    /// # Errors
    ///
    /// One line that says why it cannot.
    fn take(&mut self, asked: Far) -> Result<Running, String>;

    /// Becomes the near node, sends, and reports.
    ///
    /// # Errors
    ///
    /// One line that says why there is no sample.
    fn send(&mut self, asked: Near) -> Result<Sample, String>;
}

/// A contender that is no node.
pub(crate) struct NoNodes;

impl Nodes for NoNodes {
    fn take(&mut self, asked: Far) -> Result<Running, String> {
        Err(format!("unknown experiment {:?}; this contender is no node", asked.experiment))
    }

    fn send(&mut self, asked: Near) -> Result<Sample, String> {
        Err(format!("unknown experiment {:?}; this contender is no node", asked.experiment))
    }
}

/// What the far node is asked to take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Far {
    /// The experiment's name in the protocol.
    pub experiment: &'static str,
    /// Whether each message is to be answered.
    pub answers: bool,
    /// The secret of the two nodes.
    pub cookie: String,
}

/// What the near node is asked to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The experiment's name in the protocol.
    pub experiment: &'static str,
    /// Whether each message is sent when the answer to the last is there.
    pub answers: bool,
    /// The name of the far node.
    pub node: String,
    /// The secret of the two nodes.
    pub cookie: String,
    /// How many messages.
    pub n: u64,
}

impl Far {
    /// Reads the parameters of one experiment; `None` if it is none of two nodes.
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
    /// Reads the parameters of one experiment; `None` if it is none of two nodes.
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

/// The experiment's own name, which is there for as long as the program.
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
    fn both_ends_are_told_whether_messages_are_answered() {
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
    fn what_is_missing_or_wrong_is_named_in_one_line() {
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
