//! What a contender answers, read with suspicion. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The answer to `hello`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Hello {
    /// The process id of the operating system, where it tells one; another at each start.
    #[serde(skip)]
    pub os_pid: Option<u32>,
    /// The runtime's own version.
    pub version: String,
    /// The experiments it can run.
    pub experiments: Vec<String>,
    /// By experiment, the variants it can run, the natural one first.
    pub variants: BTreeMap<String, Vec<String>>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// The answer to `run`, whatever the experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The time the work took, in ns.
    pub elapsed_ns: u64,
    /// Operations done.
    pub ops: u64,
    /// What should have happened, counted at its cause.
    pub sent: u64,
    /// What did, counted at its arrival.
    pub received: u64,
    /// The time from the request to the answer as the lab saw it, in ns: the
    /// work and what was set up for it. 0 where nobody looked.
    pub wall_ns: u64,
    /// The processor time that the hypervisor gave to others meanwhile, where
    /// that is known, in ms.
    pub stolen_ms: Option<u64>,
    /// The answer as it came, with whatever more it holds.
    pub raw: Map<String, Value>,
}

impl Reply {
    /// A figure beyond the four.
    #[must_use]
    pub fn extra(&self, name: &str) -> Option<u64> {
        self.raw.get(name).and_then(count)
    }

    /// The time of one operation, in ns.
    #[must_use]
    pub fn ns_per_operation(&self) -> f64 {
        self.elapsed_ns as f64 / self.ops as f64
    }

    /// How many operations it did in a second.
    #[must_use]
    pub fn operations_per_second(&self) -> f64 {
        self.ops as f64 * 1e9 / self.elapsed_ns as f64
    }

    /// Reads the answer to `run`; the error says what is wrong with it.
    ///
    /// # Errors
    ///
    /// A field that is missing, of the wrong type, negative or too large.
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
    /// Reads the answer to `hello`.
    ///
    /// # Errors
    ///
    /// A field of the wrong type, or no list of experiments.
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

/// The object in a line, or what is wrong with the line.
pub(super) fn object(line: &[u8]) -> Result<Map<String, Value>, String> {
    match serde_json::from_slice(line) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err(format!("answered {}, which is no JSON object", quoted(line))),
        Err(_) => Err(format!("answered {}, which is no JSON", quoted(line))),
    }
}

/// The beginning of what was written, safe to print on one line.
pub(super) fn quoted(line: &[u8]) -> String {
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * SHOWN)]);
    let start: String = text.trim_end().chars().take(SHOWN).collect();
    let more = if start.len() < text.trim_end().len() { "…" } else { "" };
    format!("{start:?}{more}")
}

/// What somebody else wrote, as one line of bounded length.
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
    fn a_whole_answer_is_read_with_what_more_it_holds() {
        let reply = read(json!({"elapsed_ns": 5, "ops": 1, "sent": 2, "received": 3, "left": 4}));
        let reply = reply.unwrap();
        assert_eq!((reply.elapsed_ns, reply.ops, reply.sent, reply.received), (5, 1, 2, 3));
        assert_eq!((reply.extra("left"), reply.extra("right")), (Some(4), None));
    }

    #[test]
    fn a_missing_a_negative_a_broken_and_a_huge_number_are_refused() {
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
    fn a_greeting_needs_its_experiments_and_nothing_else() {
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
    fn rubbish_is_quoted_short_and_on_one_line() {
        let line = format!("hello\u{7}{}\n", "x".repeat(5000));
        let refused = object(line.as_bytes()).unwrap_err();
        assert!(refused.len() < 120 && !refused.contains('\u{7}'), "{refused}");
        assert!(object(b"[1]").unwrap_err().contains("no JSON object"));
        assert!(object(b"\xff\xfe").unwrap_err().contains("no JSON"));
    }
}
