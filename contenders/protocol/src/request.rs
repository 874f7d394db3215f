//! Parser for one line of input.
//!
//! Pure: converts bytes to a request or to a one-line error. Never panics, for any input.

use serde_json::{Map, Value};

use crate::acks::{Load, Serve};
use crate::nodes::{Far, Near};
use crate::params::shown;
use crate::run::{Expiry, Run, Signals, Timers};
use crate::variants::Variants;

/// A request to a contender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Describe yourself.
    Hello,
    /// Run this experiment and return the sample.
    Run(Run),
    /// Start this server and return its address.
    Serve(Serve),
    /// Become the far node of two.
    Take(Far),
    /// Become the near node of two, and return the sample.
    Send(Near),
    /// Stop the server or the far node, and return the number of messages it acknowledged or
    /// accepted.
    Stop,
    /// Exit.
    Quit,
}

impl Request {
    /// Parses one line, with or without its newline.
    ///
    /// # Errors
    ///
    /// Returns one line that states what is wrong and what is valid.
    pub fn parse(line: &[u8], variants: &Variants) -> Result<Request, String> {
        let request = object(line)?;
        match op(&request)? {
            "hello" => Ok(Request::Hello),
            "run" => {
                let (experiment, params) = asked(&request)?;
                match Near::parse(experiment, &params) {
                    Some(near) => near.map(Request::Send),
                    None => run(&request, experiment, &params, variants).map(Request::Run),
                }
            }
            "serve" => {
                let (experiment, params) = asked(&request)?;
                match Far::parse(experiment, &params) {
                    Some(far) => far.map(Request::Take),
                    None => Serve::parse(experiment, &params).map(Request::Serve),
                }
            }
            "stop" => Ok(Request::Stop),
            "quit" => Ok(Request::Quit),
            other => {
                Err(unknown(other, "this contender", "\"hello\", \"run\", \"serve\", \"stop\""))
            }
        }
    }
}

/// A request to the load client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoadRequest {
    /// Describe yourself.
    Hello,
    /// Send this load and return the sample.
    Load(Load),
    /// Become epmd, and return its address.
    Epmd,
    /// Exit.
    Quit,
}

impl LoadRequest {
    /// Parses one line, with or without its newline.
    pub(crate) fn parse(line: &[u8]) -> Result<LoadRequest, String> {
        let request = object(line)?;
        match op(&request)? {
            "hello" => Ok(LoadRequest::Hello),
            "run" => {
                let (experiment, params) = asked(&request)?;
                Load::parse(experiment, &params).map(LoadRequest::Load)
            }
            "epmd" => Ok(LoadRequest::Epmd),
            "quit" => Ok(LoadRequest::Quit),
            other => Err(unknown(other, "this client", "\"hello\", \"run\", \"epmd\"")),
        }
    }
}

/// Parses the JSON object in a line.
fn object(line: &[u8]) -> Result<Map<String, Value>, String> {
    let value: Value =
        serde_json::from_slice(line).map_err(|error| format!("not a line of JSON: {error}"))?;
    match value {
        Value::Object(request) => Ok(request),
        other => Err(format!("a request is a JSON object with an \"op\", not {}", shown(&other))),
    }
}

/// Returns the request's `op`.
fn op(request: &Map<String, Value>) -> Result<&str, String> {
    let Some(op) = request.get("op") else {
        return Err(
            "the request has no \"op\"; it is such as \"hello\", \"run\" or \"quit\"".into()
        );
    };
    op.as_str().ok_or_else(|| format!("\"op\" must be a string, not {}", shown(op)))
}

fn unknown(op: &str, who: &str, known: &str) -> String {
    format!("unknown op {}; {who} knows {known} and \"quit\"", shown(&Value::from(op)))
}

/// Returns the experiment a request names, and its parameters.
fn asked(request: &Map<String, Value>) -> Result<(&str, Map<String, Value>), String> {
    let Some(experiment) = request.get("experiment") else {
        return Err("the request has no \"experiment\"".into());
    };
    let Some(experiment) = experiment.as_str() else {
        return Err(format!("\"experiment\" must be a string, not {}", shown(experiment)));
    };
    match request.get("params") {
        None => Ok((experiment, Map::new())),
        Some(Value::Object(params)) => Ok((experiment, params.clone())),
        Some(other) => Err(format!("\"params\" must be an object, not {}", shown(other))),
    }
}

fn run(
    request: &Map<String, Value>,
    experiment: &str,
    params: &Map<String, Value>,
    variants: &Variants,
) -> Result<Run, String> {
    let seed = request.get("seed").map_or(Ok(0), |seed| {
        let wrong = || format!("\"seed\" must be a non-negative integer, not {}", shown(seed));
        seed.as_u64().ok_or_else(wrong)
    })?;
    // The experiments that draw random numbers.
    Ok(match Run::parse(experiment, params, variants)? {
        Run::Signals(signals) => Run::Signals(Signals { seed, ..signals }),
        Run::Timers(timers) => Run::Timers(Timers { seed, ..timers }),
        Run::TimerExpiry(expiry) => Run::TimerExpiry(Expiry { seed, ..expiry }),
        other => other,
    })
}
