//! Control messages of the distribution protocol. Pure.
//!
//! A control message is a tuple whose first element is a number; some are followed by a message,
//! the payload. [`Control`] has one variant for each operation. An operation with several
//! encodings is one variant, whose fields select the encoding:
//!
//! - a *trace token* of sequential tracing selects another number for the same operation (`_TT`);
//! - the *reason* of an exit is in the tuple, as before OTP 22, or is the payload. That of a received frame is
//!   returned as the payload in both cases ([`IncomingFrame::signal`](crate::frame::IncomingFrame::signal)).
//!
//! | number | without token | with token |
//! |---|---|---|
//! | `LINK`, `UNLINK`, `UNLINK_ID`, `UNLINK_ID_ACK` | 1, 4, 35, 36 | |
//! | `SEND`, `SEND_SENDER` | 2, 22 | 12, 23 |
//! | `REG_SEND` | 6 | 16 |
//! | `ALIAS_SEND` | 33 | 34 |
//! | `ALTACT_SIG_SEND` | 37 | 37 |
//! | `EXIT`, with the reason as payload | 3, 24 | 13, 25 |
//! | `EXIT2`, with the reason as payload | 8, 26 | 18, 27 |
//! | `MONITOR_P`, `DEMONITOR_P` | 19, 20 | |
//! | `MONITOR_P_EXIT`, with the reason as payload | 21, 28 | |
//! | `GROUP_LEADER` | 7 | |
//! | `SPAWN_REQUEST`, `SPAWN_REPLY` | 29, 31 | 30, 32 |
//!
//! All of them are accepted, whatever was negotiated: a node may have encoded some before it knew
//! its peer. Which ones may be *sent* depends on the flags of both nodes. The functions that take
//! [`Flags`] select it: [`Control::to_pid`], [`Control::to_alias`], [`Control::exit`],
//! [`Control::exit2`], [`Control::exit_alias`], [`Control::down`].

mod decode;
mod encode;
mod operation;

use purlin_term::{Atom, Pid, Reference, Term};

use crate::flags::Flags;

pub use super::broken::Malformed;

/// A process, by its pid or its registered name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    /// The pid.
    Pid(Pid),
    /// The registered name.
    Name(Atom),
}

/// Recipient of an `ALTACT_SIG_SEND` signal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum To {
    /// A process, by its pid.
    Pid(Pid),
    /// A process, by its registered name.
    Name(Atom),
    /// A process, by an alias.
    Alias(Reference),
}

/// A spawn request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// The reference of the request, and of the monitor if one is requested.
    pub request: Reference,
    /// The requesting process, which becomes the parent.
    pub from: Pid,
    /// The group leader of the new process.
    pub group_leader: Pid,
    /// The module of the function.
    pub module: Atom,
    /// The name of the function.
    pub function: Atom,
    /// The number of arguments; the arguments are the payload, a list.
    pub arity: u8,
    /// The options of `spawn_opt`: `link`, `monitor` and others.
    pub options: Vec<Term>,
    /// The trace token.
    pub token: Option<Term>,
}

/// A control message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Control {
    /// `from` links to `to`.
    Link {
        /// The linking process.
        from: Pid,
        /// The linked process.
        to: Pid,
    },
    /// `from` removes its link to `to`, in the protocol before OTP 23.3.
    Unlink {
        /// The unlinking process.
        from: Pid,
        /// The unlinked process.
        to: Pid,
    },
    /// `from` removes its link to `to`, and waits for [`Control::UnlinkIdAck`].
    UnlinkId {
        /// Distinguishes this unlink from other pending ones; not 0.
        id: u64,
        /// The unlinking process.
        from: Pid,
        /// The unlinked process.
        to: Pid,
    },
    /// `from` acknowledges an unlink.
    UnlinkIdAck {
        /// The id of the unlink.
        id: u64,
        /// The acknowledging process.
        from: Pid,
        /// The process that has unlinked.
        to: Pid,
    },
    /// The payload is a message to `to`.
    Send {
        /// The recipient.
        to: Pid,
        /// The trace token.
        token: Option<Term>,
    },
    /// The payload is a message from `from` to `to`.
    SendSender {
        /// The sender.
        from: Pid,
        /// The recipient.
        to: Pid,
        /// The trace token.
        token: Option<Term>,
    },
    /// The payload is a message from `from` to the process registered as `to`.
    RegSend {
        /// The sender.
        from: Pid,
        /// The registered name of the recipient.
        to: Atom,
        /// The trace token.
        token: Option<Term>,
    },
    /// The payload is a message from `from` to the process with this alias.
    AliasSend {
        /// The sender.
        from: Pid,
        /// The alias of the recipient.
        to: Reference,
        /// The trace token.
        token: Option<Term>,
    },
    /// The payload is a message or the reason of an exit signal, in the encoding of OTP 28.
    Altact {
        /// Whether it is a priority signal.
        priority: bool,
        /// Whether it is an exit signal.
        exit: bool,
        /// The sender.
        from: Pid,
        /// The recipient.
        to: To,
        /// The trace token.
        token: Option<Term>,
    },
    /// `from`, which is linked to `to`, has ended.
    Exit {
        /// The ended process.
        from: Pid,
        /// The linked process.
        to: Pid,
        /// The trace token.
        token: Option<Term>,
        /// The exit reason; `None` if it is the payload.
        reason: Option<Term>,
    },
    /// `from` has called `exit(To, Reason)`.
    Exit2 {
        /// The calling process.
        from: Pid,
        /// The recipient of the exit signal.
        to: Pid,
        /// The trace token.
        token: Option<Term>,
        /// The exit reason; `None` if it is the payload.
        reason: Option<Term>,
    },
    /// `from` monitors `to`.
    Monitor {
        /// The monitoring process.
        from: Pid,
        /// The monitored process or name.
        to: Named,
        /// The monitor.
        reference: Reference,
    },
    /// `from` no longer monitors `to`.
    Demonitor {
        /// The monitoring process.
        from: Pid,
        /// The monitored process or name.
        to: Named,
        /// The monitor.
        reference: Reference,
    },
    /// `from`, which is monitored by `to`, has ended.
    Down {
        /// The ended process, by the pid or name in the monitor request.
        from: Named,
        /// The monitoring process.
        to: Pid,
        /// The monitor.
        reference: Reference,
        /// The exit reason; `None` if it is the payload.
        reason: Option<Term>,
    },
    /// `leader` becomes the group leader of `member`.
    GroupLeader {
        /// The leader.
        leader: Pid,
        /// The member.
        member: Pid,
    },
    /// A spawn request; the payload is the argument list.
    Spawn(Box<Spawn>),
    /// The answer to [`Control::Spawn`].
    Spawned {
        /// The reference of the request.
        request: Reference,
        /// The requesting process.
        to: Pid,
        /// Whether the new process is linked to the requesting one.
        linked: bool,
        /// Whether the requesting process monitors the new one.
        monitored: bool,
        /// The new process, or the reason for the failure.
        result: Result<Pid, Atom>,
        /// The trace token.
        token: Option<Term>,
    },
}

impl Control {
    /// Whether it is a message to a process.
    #[must_use]
    pub fn is_message(&self) -> bool {
        match self {
            Self::Send { .. }
            | Self::SendSender { .. }
            | Self::RegSend { .. }
            | Self::AliasSend { .. } => true,
            Self::Altact { exit, .. } => !exit,
            _ => false,
        }
    }

    /// Whether a payload follows.
    #[must_use]
    pub fn has_payload(&self) -> bool {
        match self {
            Self::Altact { .. } | Self::Spawn(_) => true,
            Self::Exit { reason, .. } | Self::Exit2 { reason, .. } | Self::Down { reason, .. } => {
                reason.is_none()
            }
            other => other.is_message(),
        }
    }

    /// Returns an upper bound of the memory of its trace token and its options, in bytes.
    ///
    /// COST: encodes them.
    #[must_use]
    pub fn memory_of_terms(&self) -> usize {
        let (options, token) = match self {
            Self::Spawn(spawn) => (&spawn.options[..], &spawn.token),
            Self::Send { token, .. }
            | Self::SendSender { token, .. }
            | Self::RegSend { token, .. }
            | Self::AliasSend { token, .. }
            | Self::Altact { token, .. }
            | Self::Spawned { token, .. }
            | Self::Exit { token, .. }
            | Self::Exit2 { token, .. } => (&[][..], token),
            _ => return 0,
        };
        // WHY a bound: each part of a term takes at least one byte.
        let bytes = |term: &Term| term.encode().map_or(0, |bytes| bytes.len());
        options.iter().chain(token).map(bytes).sum::<usize>() * size_of::<Term>()
    }

    /// The sending process, if the control message contains it. Signals of one process to another must arrive in order.
    #[must_use]
    pub fn sender(&self) -> Option<&Pid> {
        match self {
            Self::Link { from, .. }
            | Self::Unlink { from, .. }
            | Self::UnlinkId { from, .. }
            | Self::UnlinkIdAck { from, .. }
            | Self::SendSender { from, .. }
            | Self::RegSend { from, .. }
            | Self::AliasSend { from, .. }
            | Self::Altact { from, .. }
            | Self::Exit { from, .. }
            | Self::Exit2 { from, .. }
            | Self::Monitor { from, .. }
            | Self::Demonitor { from, .. }
            | Self::Down { from: Named::Pid(from), .. }
            | Self::GroupLeader { leader: from, .. }
            | Self::Spawned { result: Ok(from), .. } => Some(from),
            Self::Spawn(spawn) => Some(&spawn.from),
            Self::Send { .. } | Self::Down { .. } | Self::Spawned { .. } => None,
        }
    }

    /// The process whose link, monitor or exit this is about. It must belong to the sending node.
    #[must_use]
    pub fn speaks_of(&self) -> Option<&Pid> {
        match self {
            Self::SendSender { .. }
            | Self::RegSend { .. }
            | Self::AliasSend { .. }
            | Self::Altact { exit: false, .. }
            | Self::GroupLeader { .. } => None,
            _ => self.sender(),
        }
    }

    /// A message from `from` to `to`.
    #[must_use]
    pub fn to_pid(flags: Flags, from: Pid, to: Pid) -> Self {
        if flags.contains(Flags::SEND_SENDER) {
            Self::SendSender { from, to, token: None }
        } else {
            Self::Send { to, token: None }
        }
    }

    /// A message from `from` to the process with this alias. Returns `None` if the peer does not support aliases. A
    /// peer that does not support priority gets an ordinary message.
    #[must_use]
    pub fn to_alias(flags: Flags, from: Pid, to: Reference, priority: bool) -> Option<Self> {
        // WHY this order: OTP 30 is expected to support only the newer encoding.
        if flags.contains(Flags::ALTACT_SIG) {
            let (to, token) = (To::Alias(to), None);
            Some(Self::Altact { priority, exit: false, from, to, token })
        } else {
            flags.contains(Flags::ALIAS).then_some(Self::AliasSend { from, to, token: None })
        }
    }

    /// The exit of `from`, which is linked to `to`, and the payload.
    #[must_use]
    pub fn exit(flags: Flags, from: Pid, to: Pid, reason: Term) -> (Self, Option<Term>) {
        let (reason, payload) = reason_or_payload(flags, reason);
        (Self::Exit { from, to, token: None, reason }, payload)
    }

    /// An exit signal from `from` to `to`, and the payload.
    #[must_use]
    pub fn exit2(flags: Flags, from: Pid, to: Pid, reason: Term) -> (Self, Option<Term>) {
        let (reason, payload) = reason_or_payload(flags, reason);
        (Self::Exit2 { from, to, token: None, reason }, payload)
    }

    /// An exit signal from `from` to the process with this alias; the reason is the payload. Returns `None` if the peer
    /// does not support it, which a BEAM before OTP 28 does not.
    #[must_use]
    pub fn exit_alias(flags: Flags, from: Pid, to: Reference, priority: bool) -> Option<Self> {
        let (to, token) = (To::Alias(to), None);
        let control = Self::Altact { priority, exit: true, from, to, token };
        flags.contains(Flags::ALTACT_SIG).then_some(control)
    }

    /// The exit of `from`, which `to` monitors, and the payload.
    #[must_use]
    pub fn down(
        flags: Flags,
        from: Named,
        to: Pid,
        reference: Reference,
        reason: Term,
    ) -> (Self, Option<Term>) {
        let (reason, payload) = reason_or_payload(flags, reason);
        (Self::Down { from, to, reference, reason }, payload)
    }
}

fn reason_or_payload(flags: Flags, reason: Term) -> (Option<Term>, Option<Term>) {
    if flags.contains(Flags::EXIT_PAYLOAD) { (None, Some(reason)) } else { (Some(reason), None) }
}

#[cfg(test)]
pub(crate) mod tests;
