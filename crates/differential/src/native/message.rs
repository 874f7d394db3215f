//! Messages of the processes, and what is logged of them.

use purlin::{Down, Exit, MonitorRef, ProcessId, Reply};

use crate::language::{Pattern, Slot, Tag, Who};
use crate::outcome::{Item, Seen};

/// Message type of the processes.
#[derive(Debug, purlin::Message)]
pub(super) enum Msg {
    Message(Who, Tag),
    Request(Who, Tag, Reply<Tag>),
    #[from]
    Down(Down),
    #[from]
    Exit(Exit),
}

/// An observation of a process, before pids and monitors are replaced by numbers.
#[derive(Debug)]
pub(super) enum Raw {
    Seen(Seen),
    Down(Down),
    Exit(Exit),
    Whereis(ProcessId),
}

/// Returns whether a receive with this pattern takes the message.
pub(super) fn matches(pattern: Pattern, message: &Msg, monitors: &[(Slot, MonitorRef)]) -> bool {
    match (pattern, message) {
        (Pattern::Any, _)
        | (Pattern::Request, Msg::Request(..))
        | (Pattern::Down, Msg::Down(_))
        | (Pattern::Exit, Msg::Exit(_)) => true,
        (Pattern::Tag(tag), Msg::Message(_, own)) => tag == *own,
        (Pattern::DownOf(slot), Msg::Down(down)) => monitors.contains(&(slot, down.monitor)),
        _ => false,
    }
}

/// Returns what is logged of a message; `owe` gets the reply handle of a request.
pub(super) fn raw(message: Msg, owe: impl FnOnce(Reply<Tag>)) -> Raw {
    match message {
        Msg::Message(from, tag) => Raw::Seen(Seen::Got(Item::Message(from, tag))),
        Msg::Request(from, tag, reply) => {
            owe(reply);
            Raw::Seen(Seen::Got(Item::Request(from, tag)))
        }
        Msg::Down(down) => Raw::Down(down),
        Msg::Exit(exit) => Raw::Exit(exit),
    }
}
