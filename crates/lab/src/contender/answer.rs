//! Answers of a contender, their validating parsers, and failures to answer. Pure.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The answer to `hello`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The operating system's process id, if the contender reports it; differs at each start.
    #[serde(skip)]
    pub os_pid: Option<u32>,
    /// The version of the runtime under test.
    pub version: String,
    /// Ids of the experiments the contender offers.
    pub experiments: Vec<String>,
    /// The supported variants by experiment, the natural one first.
    pub variants: BTreeMap<String, Vec<String>>,
    /// Notes for the reader of the report.
    pub notes: Vec<String>,
}

/// The answer to `run`, for any experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// Duration of the measured work, in ns.
    pub elapsed_ns: u64,
    /// Number of operations.
    pub ops: u64,
    /// Number of events that should have happened, counted where they were caused.
    pub sent: u64,
    /// Number of events that did happen, counted where they arrived.
    pub received: u64,
    /// Time from request to answer as measured by the lab, in ns: the work and its set-up. 0 if it
    /// was not measured.
    pub wall_ns: u64,
    /// Processor time the hypervisor gave to other guests during the sample, in ms; `None` where it
    /// is unknown.
    pub stolen_ms: Option<u64>,
    /// The raw answer, with all additional fields.
    pub raw: Map<String, Value>,
}

impl Reply {
    /// Returns an additional field, if it is a valid count.
    pub fn extra(&self, name: &str) -> Option<u64> {
        self.raw.get(name).and_then(count)
    }

    /// Returns the time per operation, in ns.
    pub fn ns_per_operation(&self) -> f64 {
        self.elapsed_ns as f64 / self.ops as f64
    }

    /// Returns the operations per second.
    pub fn operations_per_second(&self) -> f64 {
        self.ops as f64 * 1e9 / self.elapsed_ns as f64
    }

    /// Parses the answer to `run`.
    ///
    /// # Errors
    ///
    /// Returns a description if a field is missing, of the wrong type, negative or too large.
    pub fn read(raw: Map<String, Value>) -> Result<Self, String> {
        for (name, value) in &raw {
            if value.is_number() && count(value).is_none() {
                return Err(format!("{name} is {value}, no whole number from 0 below 2^63"));
            }
        }
        let field = |name: &str| match raw.get(name) {
            None => Err(format!("{name} is missing")),
            Some(value) => count(value).ok_or_else(|| format!("{name} is no number")),
        };
        Ok(Self {
            elapsed_ns: field("elapsed_ns")?,
            ops: field("ops")?,
            sent: field("sent")?,
            received: field("received")?,
            wall_ns: 0,
            stolen_ms: None,
            raw,
        })
    }
}

impl Hello {
    /// Parses the answer to `hello`.
    ///
    /// # Errors
    ///
    /// Returns a description if a field has the wrong type or the list of experiments is missing.
    pub fn read(raw: &Map<String, Value>) -> Result<Self, String> {
        let variants = match raw.get("variants") {
            None => BTreeMap::new(),
            Some(Value::Object(by_experiment)) => by_experiment
                .iter()
                .map(|(id, names)| Ok((id.clone(), texts(names, "variants")?)))
                .collect::<Result<_, String>>()?,
            Some(_) => return Err("variants is no object".into()),
        };
        let os_pid = |pid| count(pid).and_then(|pid| u32::try_from(pid).ok());
        let experiments = raw.get("experiments").ok_or("experiments is missing")?;
        Ok(Self {
            os_pid: match raw.get("os_pid") {
                None => None,
                Some(pid) => Some(os_pid(pid).ok_or("os_pid is no process id")?),
            },
            version: match raw.get("version") {
                None => String::new(),
                Some(Value::String(version)) => one_line(version),
                Some(_) => return Err("version is no text".into()),
            },
            experiments: texts(experiments, "experiments")?,
            variants,
            notes: raw.get("notes").map_or(Ok(Vec::new()), |notes| texts(notes, "notes"))?,
        })
    }
}

/// Why there is no answer; the contender's samples of the experiment are lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure {
    /// The contender exited, could not be started, exceeded its time limit or gave an invalid
    /// answer; it is killed and must be restarted.
    Broken(String),
    /// The contender answered with an error and continues to run.
    Refused(String),
    /// The user interrupted the run.
    Interrupted,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Broken(line) => formatter.write_str(line),
            Self::Refused(line) => write!(formatter, "answered with an error: {line}"),
            Self::Interrupted => formatter.write_str("was interrupted"),
        }
    }
}

/// Parses a line as a JSON object, or returns a description of the problem.
pub(super) fn object(line: &[u8]) -> Result<Map<String, Value>, String> {
    match serde_json::from_slice(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(format!("answered {}, which is no JSON object", quoted(line))),
        Err(_) => Err(format!("answered {}, which is no JSON", quoted(line))),
    }
}

/// Quotes the beginning of a line, escaped for printing on one line.
pub(super) fn quoted(line: &[u8]) -> String {
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * SHOWN)]);
    let start: String = text.trim_end().chars().take(SHOWN).collect();
    let more = if start.len() < text.trim_end().len() { "…" } else { "" };
    format!("{start:?}{more}")
}

/// Limits foreign text to 300 characters and replaces control characters by spaces.
pub(super) fn one_line(text: &str) -> String {
    const LONGEST: usize = 300;
    text.chars().take(LONGEST).map(|sign| if sign.is_control() { ' ' } else { sign }).collect()
}

fn texts(value: &Value, name: &str) -> Result<Vec<String>, String> {
    value
        .as_array()
        .and_then(|items| items.iter().map(|item| item.as_str().map(one_line)).collect())
        .ok_or_else(|| format!("{name} is no list of texts"))
}

fn count(value: &Value) -> Option<u64> {
    value.as_i64().and_then(|number| u64::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: Value) -> Result<Reply, String> {
        Reply::read(value.as_object().unwrap().clone())
    }

    #[test]
    fn reply_keeps_additional_fields() {
        let reply = read(json!({"elapsed_ns": 5, "ops": 1, "sent": 2, "received": 3, "left": 4}));
        let reply = reply.unwrap();
        assert_eq!((reply.elapsed_ns, reply.ops, reply.sent, reply.received), (5, 1, 2, 3));
        assert_eq!((reply.extra("left"), reply.extra("right")), (Some(4), None));
    }

    #[test]
    fn missing_negative_fractional_and_huge_numbers_are_refused() {
        for (answer, name) in [
            (json!({"ops": 1, "sent": 2, "received": 3}), "elapsed_ns"),
            (json!({"elapsed_ns": -5, "ops": 1, "sent": 2, "received": 3}), "elapsed_ns"),
            (json!({"elapsed_ns": 5, "ops": 1.5, "sent": 2, "received": 3}), "ops"),
            (json!({"elapsed_ns": 5, "ops": 1, "sent": "2", "received": 3}), "sent"),
            (json!({"elapsed_ns": 5, "ops": 1, "sent": 2, "received": 1u64 << 63}), "received"),
            (json!({"elapsed_ns": 5, "ops": 1, "sent": 2, "received": 3, "left": -1}), "left"),
        ] {
            let refused = read(answer).unwrap_err();
            assert!(refused.starts_with(name), "{refused}");
        }
    }

    #[test]
    fn greeting_requires_only_experiments() {
        let greeting = json!({"experiments": ["ping-pong"]});
        let hello = Hello::read(greeting.as_object().unwrap()).unwrap();
        assert_eq!(hello.experiments, ["ping-pong"]);
        for bad in [
            json!({}),
            json!({"experiments": "all"}),
            json!({"experiments": [], "notes": 5}),
            json!({"experiments": [], "variants": {"bandwidth": "moved"}}),
            json!({"experiments": [], "os_pid": "me"}),
            json!({"experiments": [], "version": 1}),
        ] {
            assert!(Hello::read(bad.as_object().unwrap()).is_err(), "{bad}");
        }
    }

    #[test]
    fn invalid_output_is_quoted_briefly_on_one_line() {
        let line = format!("hello\u{7}{}\n", "x".repeat(5000));
        let refused = object(line.as_bytes()).unwrap_err();
        assert!(refused.len() < 120 && !refused.contains('\u{7}'), "{refused}");
        assert!(object(b"[1]").unwrap_err().contains("no JSON object"));
        assert!(object(b"\xff\xfe").unwrap_err().contains("no JSON"));
    }
}
