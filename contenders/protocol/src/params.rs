//! The parameters of one request, read by name and checked against bounds.
//!
//! Used by [`Run::parse`](crate::Run::parse) and its like only. Holds the bounds too: they keep every total
//! below 2^63 and turn an absurd request into an answer instead of an exhausted machine. How long
//! a run takes is not bounded here; that is the lab's affair.

use std::net::SocketAddr;

use serde_json::{Map, Value};

/// The most of anything that is only counted: messages, steps, hops, processes one after another.
pub const COUNT_MAX: u64 = 1_000_000_000_000;
/// The most processes that an experiment may hold alive at once.
pub const PROCESSES_MAX: u64 = 100_000_000;
/// The most repetitions of one set-up.
pub const REPS_MAX: u64 = 1_000_000;
/// The longest list that a message may carry, in elements.
pub const LENGTH_MAX: u64 = 1_000_000;
/// The most messages or timers that may wait beside what is measured.
pub const WAITING_MAX: u64 = 10_000_000;
/// The most processes that may compute for ever.
pub const HOGS_MAX: u64 = 1000;
/// The most restarts of one supervisor.
pub const RESTARTS_MAX: u64 = 1_000_000;
/// The most senders to one receiver that are told of their start and their end.
pub const SENDERS_MAX: u64 = 10_000;
/// The most signals that may be under way to one receiver.
pub const ROOM_MAX: u64 = 1_000_000_000;
/// The longest time that may be asked for, in milliseconds.
pub const MS_MAX: u64 = 600_000;
/// The most cores that a server may be told to run on.
pub const CORES_MAX: u64 = 1024;
/// The most connections of the client of the experiments with servers.
pub const CONNECTIONS_MAX: u64 = 10_000;
/// The most messages that it may send on each of them.
pub const MESSAGES_MAX: u64 = 100_000_000_000;
/// The largest payload of a message, in bytes: the largest that servers take unless told otherwise.
pub const SIZE_MAX: u64 = 16 << 20;
/// The most messages in a write.
pub const BATCH_MAX: u64 = 65_536;

/// The parameters of one experiment, and which of them were asked for.
pub(crate) struct Params<'a> {
    experiment: &'a str,
    given: &'a Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'a> Params<'a> {
    pub(crate) fn new(experiment: &'a str, given: &'a Map<String, Value>) -> Self {
        Params { experiment, given, known: Vec::new() }
    }

    /// An integer that must be given.
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

    /// An integer, if it is given.
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

    /// A host's address and a port, which must be given.
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

    /// A text that must be given, of one byte or more.
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

    /// The repetitions: 1 if not given.
    pub(crate) fn reps(&mut self) -> Result<u64, String> {
        match self.look_up("reps") {
            None => Ok(1),
            Some(_) => self.integer("reps", 1, REPS_MAX),
        }
    }

    /// One of several words, which must be given.
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

    /// One of several words, or `natural` if it is not given.
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

    /// Refuses a parameter that nobody asked for: it is most likely misspelt.
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

    /// A complaint that names the experiment.
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

/// A value as it was written, cut short: it may be a megabyte of nonsense.
pub(crate) fn shown(value: &Value) -> String {
    const MOST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(MOST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
