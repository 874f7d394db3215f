//! What can be seen of a program that has come to rest: each process's log, and how it was left.

use std::fmt;

use crate::language::{Name, Reason, Slot, Tag, Who};

/// What a monitor watched, as its down message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Watched {
    /// A process.
    Process(Who),
    /// A name.
    Name(Name),
}

/// What lies in a mailbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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

/// What a process saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Seen {
    /// A receive took this.
    Got(Item),
    /// A receive gave up.
    Nothing,
    /// Whether `register` took the name.
    Registered(bool),
    /// Whether `unregister` found the name.
    Unregistered(bool),
    /// Whom `whereis` found.
    Whereis(Option<Who>),
    /// Whether there was somebody of the name to send to.
    SentByName(bool),
    /// Whether the monitor was there to be taken back.
    Demonitored(bool),
    /// A call was answered.
    Answer(Tag),
    /// A call failed.
    Failed(Reason),
    /// A call to oneself was refused.
    Refused,
}

/// How a process was left.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Nobody spawned it.
    Unborn,
    /// It ended.
    Ended(Reason),
    /// It waits for ever, with this in its mailbox.
    Waits(Vec<Item>),
}

/// One process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Trace {
    /// What it saw, in order.
    pub log: Vec<Seen>,
    /// How it was left.
    pub end: End,
}

/// A whole program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
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
