//! Outcome of a program at rest: the log of each process and how it ended.

use std::fmt;

use serde::Deserialize;

use crate::language::{Name, Reason, Slot, Tag, Who};

/// Target of a monitor, as in its down message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Watched {
    /// A process.
    Process(Who),
    /// A name.
    Name(Name),
}

/// An item of a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Item {
    /// A message.
    Message(Who, Tag),
    /// The request of a call.
    Request(Who, Tag),
    /// A down message.
    Down(Slot, Watched, Reason),
    /// An exit message.
    Exit(Who, Reason),
}

/// An observation in the log of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// A receive took this item.
    Got(Item),
    /// A receive timed out.
    Nothing,
    /// Whether `register` succeeded.
    Registered(bool),
    /// Whether `unregister` found the name.
    Unregistered(bool),
    /// Process found by `whereis`.
    Whereis(Option<Who>),
    /// Whether a process was registered under the name that was sent to.
    SentByName(bool),
    /// Whether `demonitor` found an active monitor.
    Demonitored(bool),
    /// A call returned this reply.
    Answer(Tag),
    /// A call failed.
    Failed(Reason),
    /// A call to oneself was refused.
    Refused,
}

/// Final state of a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The process was never spawned.
    Unborn,
    /// The process ended.
    Ended(Reason),
    /// The process waits forever, with these items in its mailbox.
    Waits(Vec<Item>),
}

/// Observations and final state of one process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
pub struct Trace {
    /// Observations, in order.
    pub log: Vec<Seen>,
    /// Final state.
    pub end: End,
}

/// Outcome of a program: a trace for each process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize)]
pub struct Outcome(pub Vec<Trace>);

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(from, tag) => write!(f, "t{tag} from P{from}"),
            Self::Request(from, tag) => write!(f, "call t{tag} from P{from}"),
            Self::Down(slot, Watched::Process(who), reason) => {
                write!(f, "'DOWN' M{slot} P{who} {reason}")
            }
            Self::Down(slot, Watched::Name(name), reason) => {
                write!(f, "'DOWN' M{slot} n{name} {reason}")
            }
            Self::Exit(from, reason) => write!(f, "'EXIT' P{from} {reason}"),
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Got(item) => write!(f, "got {item}"),
            Self::Nothing => f.write_str("got nothing"),
            Self::Registered(done) => write!(f, "register: {done}"),
            Self::Unregistered(done) => write!(f, "unregister: {done}"),
            Self::Whereis(Some(who)) => write!(f, "whereis: P{who}"),
            Self::Whereis(None) => f.write_str("whereis: undefined"),
            Self::SentByName(done) => write!(f, "sent by name: {done}"),
            Self::Demonitored(done) => write!(f, "demonitor: {done}"),
            Self::Answer(tag) => write!(f, "answer t{tag}"),
            Self::Failed(reason) => write!(f, "call failed: {reason}"),
            Self::Refused => f.write_str("call to self refused"),
        }
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for seen in &self.log {
            write!(f, "  {seen};")?;
        }
        match &self.end {
            End::Unborn => f.write_str("  never spawned"),
            End::Ended(reason) => write!(f, "  ended: {reason}"),
            End::Waits(left) => {
                f.write_str("  waits")?;
                for (at, item) in left.iter().enumerate() {
                    f.write_str(if at == 0 { " with " } else { ", " })?;
                    write!(f, "{item}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (who, trace) in self.0.iter().enumerate() {
            writeln!(f, "P{who}:{trace}")?;
        }
        Ok(())
    }
}
