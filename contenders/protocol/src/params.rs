//! Parameters of a request, read by name and checked against bounds.
//!
//! Used by [`Run::parse`](crate::Run::parse) and similar parsers. The bounds keep every total below
//! 2^63, and turn an absurd request into an error instead of exhausting the machine. The duration
//! of a run is not bounded here; the lab enforces a time limit.

use std::net::SocketAddr;

use serde_json::{Map, Value};

/// Maximum of plain counts: messages, steps, hops, processes one after another.
pub const COUNT_MAX: u64 = 1_000_000_000_000;
/// Maximum number of processes alive at the same time.
pub const PROCESSES_MAX: u64 = 100_000_000;
/// Maximum number of repetitions of a set-up.
pub const REPS_MAX: u64 = 1_000_000;
/// Maximum length of a list in a message, in elements.
pub const LENGTH_MAX: u64 = 1_000_000;
/// Maximum number of waiting messages or timers in addition to the measured ones.
pub const WAITING_MAX: u64 = 10_000_000;
/// Maximum number of processes that compute without yielding.
pub const HOGS_MAX: u64 = 1000;
/// Maximum number of restarts per supervisor.
pub const RESTARTS_MAX: u64 = 1_000_000;
/// Maximum number of senders to one receiver in `signals`.
pub const SENDERS_MAX: u64 = 10_000;
/// Maximum number of signals in flight to one receiver.
pub const ROOM_MAX: u64 = 1_000_000_000;
/// Maximum duration of a run, in milliseconds.
pub const MS_MAX: u64 = 600_000;
/// Maximum number of cores for a server.
pub const CORES_MAX: u64 = 1024;
/// Maximum number of connections of the load client.
pub const CONNECTIONS_MAX: u64 = 10_000;
/// Maximum number of messages per connection.
pub const MESSAGES_MAX: u64 = 100_000_000_000;
/// Maximum payload in bytes; equals the default limit of the servers.
pub const SIZE_MAX: u64 = 16 << 20;
/// Maximum number of messages per write.
pub const BATCH_MAX: u64 = 65_536;

/// The parameters of one experiment, and the names read so far.
pub(crate) struct Params<'a> {
    experiment: &'a str,
    given: &'a Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'a> Params<'a> {
    pub(crate) fn new(experiment: &'a str, given: &'a Map<String, Value>) -> Self {
        Params { experiment, given, known: Vec::new() }
    }

    /// Returns a required integer.
    pub(crate) fn integer(
        &mut self,
        name: &'static str,
        min: u64,
        max: u64,
    ) -> Result<u64, String> {
        match self.look_up(name) {
            None => Err(self.wrong(&format!(
                "parameter {name:?} is missing; it is an integer from {min} to {max}"
            ))),
            Some(value) => match value.as_u64() {
                Some(n) if (min..=max).contains(&n) => Ok(n),
                _ => Err(self.wrong(&format!(
                    "parameter {name:?} must be an integer from {min} to {max}, not {}",
                    shown(value)
                ))),
            },
        }
    }

    /// Returns an optional integer.
    pub(crate) fn integer_or_none(
        &mut self,
        name: &'static str,
        min: u64,
        max: u64,
    ) -> Result<Option<u64>, String> {
        match self.look_up(name) {
            None => Ok(None),
            Some(_) => self.integer(name, min, max).map(Some),
        }
    }

    /// Returns a required address with port.
    pub(crate) fn address(&mut self, name: &'static str) -> Result<SocketAddr, String> {
        let like = "an address and a port such as \"127.0.0.1:8001\"";
        let Some(value) = self.look_up(name) else {
            return Err(self.wrong(&format!("parameter {name:?} is missing; it is {like}")));
        };
        let read = value.as_str().and_then(|text| text.parse().ok());
        read.ok_or_else(|| {
            self.wrong(&format!("parameter {name:?} must be {like}, not {}", shown(value)))
        })
    }

    /// Returns a required non-empty text.
    pub(crate) fn text(&mut self, name: &'static str, max: usize) -> Result<String, String> {
        let like = format!("a text of 1 to {max} bytes");
        let Some(value) = self.look_up(name) else {
            return Err(self.wrong(&format!("parameter {name:?} is missing; it is {like}")));
        };
        let read = value.as_str().filter(|text| !text.is_empty() && text.len() <= max);
        read.map(ToOwned::to_owned).ok_or_else(|| {
            self.wrong(&format!("parameter {name:?} must be {like}, not {}", shown(value)))
        })
    }

    /// Returns the number of repetitions; 1 if absent.
    pub(crate) fn reps(&mut self) -> Result<u64, String> {
        match self.look_up("reps") {
            None => Ok(1),
            Some(_) => self.integer("reps", 1, REPS_MAX),
        }
    }

    /// Returns the value of a required word.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
    ) -> Result<T, String> {
        match self.look_up(name) {
            None => {
                Err(self.wrong(&format!("parameter {name:?} is missing; it is {}", words(choices))))
            }
            Some(value) => choices
                .iter()
                .find(|(word, _)| value.as_str() == Some(word))
                .map(|(_, choice)| *choice)
                .ok_or_else(|| {
                    self.wrong(&format!(
                        "parameter {name:?} must be {}, not {}",
                        words(choices),
                        shown(value)
                    ))
                }),
        }
    }

    /// Returns the value of an optional word; `natural` if absent.
    pub(crate) fn choice_or<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
        natural: T,
    ) -> Result<T, String> {
        match self.look_up(name) {
            None => Ok(natural),
            Some(_) => self.choice(name, choices),
        }
    }

    /// Returns an error for parameters that were not read, which are most likely misspelt.
    pub(crate) fn finish(self) -> Result<(), String> {
        match self.given.keys().find(|name| !self.known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => Err(self.wrong(&format!(
                "unknown parameter {}; it takes {}",
                shown(&Value::from(name.as_str())),
                self.known.join(", ")
            ))),
        }
    }

    /// Returns an error message that names the experiment.
    pub(crate) fn wrong(&self, what: &str) -> String {
        format!("{}: {what}", self.experiment)
    }

    fn look_up(&mut self, name: &'static str) -> Option<&'a Value> {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
        self.given.get(name)
    }
}

fn words<T>(choices: &[(&str, T)]) -> String {
    let words: Vec<_> = choices.iter().map(|(word, _)| format!("{word:?}")).collect();
    words.join(" or ")
}

/// Formats a value of the request, truncated, because it may be very long.
pub(crate) fn shown(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
