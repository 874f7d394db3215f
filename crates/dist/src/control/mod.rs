//! Control messages: what one node tells another of its processes. Pure.
//!
//! A control message is a tuple whose first element is a number; some have a message
//! behind them, the payload. [`Control`] has one variant for each thing that can be said.
//! What can be said in several ways is one variant with fields that tell which:
//!
//! - a *token* of sequential tracing makes another number of the same thing (`_TT`);
//! - the *reason* of an exit stands in the tuple, as before OTP 22, or is the payload.
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
//! All of them are taken whatever was negotiated: a node may have written some before it
//! knew whom it talks to. What may be *sent* depends on what both can do, and the
//! functions that take [`Flags`] choose it: [`Control::to_pid`], [`Control::to_alias`],
//! [`Control::exit`], [`Control::exit2`], [`Control::down`].

mod decode;
mod encode;

use purlin_term::{Atom, Pid, Reference, Term};

use crate::flags::Flags;

pub use decode::Malformed;

/// A process, by its pid or by the name it is registered by.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Named {
    /// By its pid.
    Pid(Pid),
    /// By its name.
    Name(Atom),
}

/// Who gets a signal of OTP 28.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum To {
    /// A process, by its pid.
    Pid(Pid),
    /// A process, by its name.
    Name(Atom),
    /// A process, by an alias.
    Alias(Reference),
}

/// What is asked for by a request to spawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spawn {
    /// The number of the request; the monitor's too, if one is wanted.
    pub request: Reference,
    /// Who asks, and will be the parent.
    pub from: Pid,
    /// The group leader of the new process.
    pub group_leader: Pid,
    /// The module of the function.
    pub module: Atom,
    /// Its name.
    pub function: Atom,
    /// How many arguments it takes; they are the payload, a list.
    pub arity: u8,
    /// What `spawn_opt` takes: `link`, `monitor` and others.
    pub options: Vec<Term>,
    /// A token of sequential tracing.
    pub token: Option<Term>,
}

/// What one node tells another.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Control {
    /// `from` links itself to `to`.
    Link {
        /// Who.
        from: Pid,
        /// With whom.
        to: Pid,
    },
    /// `from` takes its link to `to` away, as nodes before OTP 23.3 said it.
    Unlink {
        /// Who.
        from: Pid,
        /// From whom.
        to: Pid,
    },
    /// `from` takes its link to `to` away, and waits for [`Control::UnlinkIdAck`].
    UnlinkId {
        /// Tells this unlink from others that are under way; not 0.
        id: u64,
        /// Who.
        from: Pid,
        /// From whom.
        to: Pid,
    },
    /// `from` has heard of an unlink.
    UnlinkIdAck {
        /// The number of the unlink.
        id: u64,
        /// Who has heard of it.
        from: Pid,
        /// Who has unlinked.
        to: Pid,
    },
    /// The payload is a message to `to`.
    Send {
        /// Who gets it.
        to: Pid,
        /// A token of sequential tracing.
        token: Option<Term>,
    },
    /// The payload is a message of `from` to `to`.
    SendSender {
        /// Who sends it.
        from: Pid,
        /// Who gets it.
        to: Pid,
        /// A token of sequential tracing.
        token: Option<Term>,
    },
    /// The payload is a message of `from` to the process of this name.
    RegSend {
        /// Who sends it.
        from: Pid,
        /// The name of who gets it.
        to: Atom,
        /// A token of sequential tracing.
        token: Option<Term>,
    },
    /// The payload is a message of `from` to the process with this alias.
    AliasSend {
        /// Who sends it.
        from: Pid,
        /// The alias of who gets it.
        to: Reference,
        /// A token of sequential tracing.
        token: Option<Term>,
    },
    /// The payload is a message, or the reason of an exit signal, as nodes since OTP 28 can say it.
    Altact {
        /// Whether it goes before others that wait.
        priority: bool,
        /// Whether it is an exit signal.
        exit: bool,
        /// Who sends it.
        from: Pid,
        /// Who gets it.
        to: To,
        /// A token of sequential tracing.
        token: Option<Term>,
    },
    /// `from`, which is linked to `to`, has ended.
    Exit {
        /// Who has ended.
        from: Pid,
        /// With whom it is linked.
        to: Pid,
        /// A token of sequential tracing.
        token: Option<Term>,
        /// Why, unless the payload says it.
        reason: Option<Term>,
    },
    /// `from` has called `exit(To, Reason)`.
    Exit2 {
        /// Who has called it.
        from: Pid,
        /// Whom it is to end.
        to: Pid,
        /// A token of sequential tracing.
        token: Option<Term>,
        /// Why, unless the payload says it.
        reason: Option<Term>,
    },
    /// `from` monitors `to`.
    Monitor {
        /// Who.
        from: Pid,
        /// Whom.
        to: Named,
        /// The monitor.
        reference: Reference,
    },
    /// `from` no longer monitors `to`.
    Demonitor {
        /// Who.
        from: Pid,
        /// Whom.
        to: Named,
        /// The monitor.
        reference: Reference,
    },
    /// `from`, which is monitored by `to`, has ended.
    Down {
        /// Who has ended, as it was named when it was monitored.
        from: Named,
        /// Who has monitored it.
        to: Pid,
        /// The monitor.
        reference: Reference,
        /// Why, unless the payload says it.
        reason: Option<Term>,
    },
    /// `leader` is to be the group leader of `member`.
    GroupLeader {
        /// The leader.
        leader: Pid,
        /// The member.
        member: Pid,
    },
    /// A process is to be spawned; the payload is the list of its arguments.
    Spawn(Box<Spawn>),
    /// What became of [`Control::Spawn`].
    Spawned {
        /// The number of the request.
        request: Reference,
        /// Who has asked.
        to: Pid,
        /// Whether the new process is linked to who has asked.
        linked: bool,
        /// Whether who has asked monitors it.
        monitored: bool,
        /// The new process, or why there is none.
        result: Result<Pid, Atom>,
        /// A token of sequential tracing.
        token: Option<Term>,
    },
}

impl Control {
    /// Whether a payload stands behind it.
    #[must_use]
    pub fn has_payload(&self) -> bool {
        match self {
            Self::Send { .. }
            | Self::SendSender { .. }
            | Self::RegSend { .. }
            | Self::AliasSend { .. }
            | Self::Altact { .. }
            | Self::Spawn(_) => true,
            Self::Exit { reason, .. } | Self::Exit2 { reason, .. } | Self::Down { reason, .. } => {
                reason.is_none()
            }
            _ => false,
        }
    }

    /// Who sends it, as far as it says so. What one process sends to another is to arrive in order.
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

    /// Whose link, monitor or end this is about: it has to live on the node that says it.
    #[must_use]
    pub fn speaks_of(&self) -> Option<&Pid> {
        match self {
            Self::Link { from, .. }
            | Self::Unlink { from, .. }
            | Self::UnlinkId { from, .. }
            | Self::UnlinkIdAck { from, .. }
            | Self::Exit { from, .. }
            | Self::Exit2 { from, .. }
            | Self::Monitor { from, .. }
            | Self::Demonitor { from, .. }
            | Self::Down { from: Named::Pid(from), .. }
            | Self::Spawned { result: Ok(from), .. } => Some(from),
            Self::Spawn(spawn) => Some(&spawn.from),
            _ => None,
        }
    }

    /// A message of `from` to `to`.
    #[must_use]
    pub fn to_pid(flags: Flags, from: Pid, to: Pid) -> Self {
        if flags.has(Flags::SEND_SENDER) {
            Self::SendSender { from, to, token: None }
        } else {
            Self::Send { to, token: None }
        }
    }

    /// A message of `from` to the process with this alias; `None` if the other node does not know of aliases.
    #[must_use]
    pub fn to_alias(flags: Flags, from: Pid, to: Reference) -> Option<Self> {
        // WHY this order: OTP 30 is to know only the newer of the two.
        if flags.has(Flags::ALTACT_SIG) {
            let (to, token) = (To::Alias(to), None);
            Some(Self::Altact { priority: false, exit: false, from, to, token })
        } else {
            flags.has(Flags::ALIAS).then_some(Self::AliasSend { from, to, token: None })
        }
    }

    /// The end of `from`, which is linked to `to`; and the payload.
    #[must_use]
    pub fn exit(flags: Flags, from: Pid, to: Pid, reason: Term) -> (Self, Option<Term>) {
        let (reason, payload) = reason_or_payload(flags, reason);
        (Self::Exit { from, to, token: None, reason }, payload)
    }

    /// An exit signal of `from` to `to`; and the payload.
    #[must_use]
    pub fn exit2(flags: Flags, from: Pid, to: Pid, reason: Term) -> (Self, Option<Term>) {
        let (reason, payload) = reason_or_payload(flags, reason);
        (Self::Exit2 { from, to, token: None, reason }, payload)
    }

    /// The end of `from`, which `to` monitors; and the payload.
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
    if flags.has(Flags::EXIT_PAYLOAD) { (None, Some(reason)) } else { (Some(reason), None) }
}

#[cfg(test)]
pub(crate) mod tests;
