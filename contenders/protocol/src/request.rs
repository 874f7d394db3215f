//! One line of input as a request.
//!
//! Pure: bytes in, a request or one line of complaint out. Never panics, whatever the bytes.

use serde_json::{Map, Value};

use crate::params::shown;
use crate::run::{Run, Signals, Variant};

/// What the lab asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Say who you are.
    Hello,
    /// Run this and report.
    Run(Run),
    /// End.
    Quit,
}

impl Request {
    /// Reads one line, without or with its newline. `variants` as for [`Run::parse`].
    ///
    /// # Errors
    ///
    /// One line that says what is wrong and what would be right.
    pub fn parse(line: &[u8], variants: &[Variant]) -> Result<Request, String> {
        let value: Value =
            serde_json::from_slice(line).map_err(|error| format!("not a line of JSON: {error}"))?;
        let Value::Object(request) = value else {
            return Err(format!(
                "a request is a JSON object with an \"op\", not {}",
                shown(&value)
            ));
        };
        match request.get("op").map(|op| (op, op.as_str())) {
            Some((_, Some("hello"))) => Ok(Request::Hello),
            Some((_, Some("run"))) => run(&request, variants).map(Request::Run),
            Some((_, Some("quit"))) => Ok(Request::Quit),
            Some((op, _)) => Err(format!(
                "unknown op {}; this contender knows \"hello\", \"run\" and \"quit\"",
                shown(op)
            )),
            None => Err("the request has no \"op\"; it is \"hello\", \"run\" or \"quit\"".into()),
        }
    }
}

fn run(request: &Map<String, Value>, variants: &[Variant]) -> Result<Run, String> {
    let Some(experiment) = request.get("experiment") else {
        return Err("the request has no \"experiment\"".into());
    };
    let Some(experiment) = experiment.as_str() else {
        return Err(format!("\"experiment\" must be a string, not {}", shown(experiment)));
    };
    let seed = request.get("seed").map_or(Ok(0), |seed| {
        let wrong = || format!("\"seed\" must be a non-negative integer, not {}", shown(seed));
        seed.as_u64().ok_or_else(wrong)
    })?;
    let run = match request.get("params") {
        None => Run::parse(experiment, &Map::new(), variants),
        Some(Value::Object(params)) => Run::parse(experiment, params, variants),
        Some(other) => Err(format!("\"params\" must be an object, not {}", shown(other))),
    }?;
    // The only one that draws.
    Ok(match run {
        Run::Signals(signals) => Run::Signals(Signals { seed, ..signals }),
        other => other,
    })
}
