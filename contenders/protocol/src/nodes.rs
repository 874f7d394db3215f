//! Requests of the experiments with two distribution nodes.
//!
//! `docs/lab/contender-protocol.md` defines the messages between the two nodes. Pure: parses parameters to a typed
//! request or to a one-line error.

use serde_json::{Map, Value};

use crate::params::{COUNT_MAX, Params};
use crate::running::Running;
use crate::sample::Sample;

/// The experiments with two nodes, in the order of the protocol's table.
pub const PAIRED: [&str; 3] = ["dist-send", "dist-round-trip", "dist-call"];

/// Maximum length of a node name and of a cookie, in bytes.
const TEXT_MAX: usize = 255;

/// Maximum number of calling processes.
const CALLERS_MAX: u64 = 10_000;

/// What the near node sends to the far one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Messages without answers.
    OneWay,
    /// Messages, each of which waits for the answer to the previous one.
    RoundTrips,
    /// Calls of a server, by several processes.
    Calls,
}

/// A contender whose processes can be those of a distribution node. epmd is on 127.0.0.1, at the port given by
/// `ERL_EPMD_PORT`.
pub trait Nodes {
    /// Becomes the far node: a process registered as `lab` accepts messages or calls.
    ///
    /// # Errors
    ///
    /// Returns one line with the reason if it cannot.
    fn take(&mut self, asked: Far) -> Result<Running, String>;

    /// Becomes the near node, sends the messages or calls, and returns the sample.
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
    /// What the far node receives.
    pub traffic: Traffic,
    /// The cookie shared by the two nodes.
    pub cookie: String,
}

/// Request to the near node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// The experiment's name in the protocol.
    pub experiment: &'static str,
    /// What the near node sends.
    pub traffic: Traffic,
    /// Number of calling processes; 1 unless `traffic` is [`Traffic::Calls`].
    pub callers: u64,
    /// The name of the far node.
    pub node: String,
    /// The cookie shared by the two nodes.
    pub cookie: String,
    /// Number of messages or calls.
    pub n: u64,
}

impl Far {
    /// Parses the parameters of one experiment; returns `None` if the experiment does not use two nodes.
    pub(crate) fn parse(
        experiment: &str,
        params: &Map<String, Value>,
    ) -> Option<Result<Far, String>> {
        let (experiment, traffic) = known(experiment)?;
        let read = || {
            let mut p = Params::new(experiment, params);
            let cookie = p.text("cookie", TEXT_MAX)?;
            p.finish()?;
            Ok(Far { experiment, traffic, cookie })
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
        let (experiment, traffic) = known(experiment)?;
        let read = || {
            let mut p = Params::new(experiment, params);
            let n = p.integer("n", 0, COUNT_MAX)?;
            let (node, cookie) = (p.text("node", TEXT_MAX)?, p.text("cookie", TEXT_MAX)?);
            let callers = match traffic {
                Traffic::Calls => p.integer("callers", 1, CALLERS_MAX)?,
                Traffic::OneWay | Traffic::RoundTrips => 1,
            };
            p.finish()?;
            Ok(Near { experiment, traffic, callers, node, cookie, n })
        };
        Some(read())
    }
}

/// Returns the experiment's name with static lifetime, and its traffic.
fn known(experiment: &str) -> Option<(&'static str, Traffic)> {
    let all = [Traffic::OneWay, Traffic::RoundTrips, Traffic::Calls];
    PAIRED.into_iter().zip(all).find(|(known, _)| *known == experiment)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn params(value: Value) -> Map<String, Value> {
        value.as_object().cloned().expect("an object")
    }

    #[test]
    fn requests_to_both_nodes_say_what_is_sent() {
        let (node, cookie) = ("far@127.0.0.1".to_owned(), "secret".to_owned());
        for (experiment, traffic) in
            [("dist-send", Traffic::OneWay), ("dist-round-trip", Traffic::RoundTrips)]
        {
            let far = Far::parse(experiment, &params(json!({"cookie": "secret"})));
            assert_eq!(far, Some(Ok(Far { experiment, traffic, cookie: cookie.clone() })));
            let asked = json!({"n": 7, "node": "far@127.0.0.1", "cookie": "secret"});
            let (node, cookie) = (node.clone(), cookie.clone());
            let due = Near { experiment, traffic, callers: 1, node, cookie, n: 7 };
            assert_eq!(Near::parse(experiment, &params(asked)), Some(Ok(due)));
        }
        assert_eq!(Far::parse("ping-pong", &Map::new()), None);
    }

    #[test]
    fn request_to_call_has_the_number_of_callers() {
        let asked = json!({"n": 7, "callers": 64, "node": "far@127.0.0.1", "cookie": "secret"});
        let near = Near::parse("dist-call", &params(asked)).unwrap().unwrap();
        assert_eq!((near.traffic, near.callers), (Traffic::Calls, 64));
        for callers in [0, 10_001] {
            let asked = json!({"n": 7, "callers": callers, "node": "a@b", "cookie": "c"});
            let refused = Near::parse("dist-call", &params(asked)).unwrap().unwrap_err();
            assert!(refused.contains("\"callers\""), "{refused}");
        }
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
