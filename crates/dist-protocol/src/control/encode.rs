//! Encoder for control messages.

use purlin_term::{Atom, Buffer, EncodeError, Pid, Reference, Term, Writer};

use crate::control::decode::{altact, spawned};
use crate::control::{Control, Named, Spawn, To, operation as op};

/// Writes a tuple of a number, fields, and optional fields that are left out if they are `None`.
macro_rules! tuple {
    ($out:ident, $number:expr; $($field:expr),*; $($optional:expr),*) => {{
        const FIELDS: usize = [$(stringify!($field)),*].len();
        $out.tuple(1 + FIELDS $(+ usize::from($optional.is_some()))*)?;
        $out.integer($number);
        $($field.put($out)?;)*
        $(if let Some(optional) = $optional { $out.term(optional)?; })*
        Ok(())
    }};
}

impl Control {
    /// Encodes the control message as a tuple.
    ///
    /// COST: allocates only for the growth of the buffer.
    ///
    /// # Errors
    /// A trace token, a reason or an option does not fit into the external term format.
    pub fn write<B: Buffer>(&self, out: &mut Writer<'_, '_, B>) -> Result<(), EncodeError> {
        // The number of an operation depends on whether there is a trace token.
        let traced = |token: &Option<Term>, plain, traced| match token {
            None => plain,
            Some(_) => traced,
        };
        match self {
            Self::Link { from, to } => tuple!(out, op::LINK; from, to;),
            Self::Unlink { from, to } => tuple!(out, op::UNLINK; from, to;),
            Self::UnlinkId { id, from, to } => tuple!(out, op::UNLINK_ID; id, from, to;),
            Self::UnlinkIdAck { id, from, to } => tuple!(out, op::UNLINK_ID_ACK; id, from, to;),
            Self::Send { to, token } => {
                tuple!(out, traced(token, op::SEND, op::SEND_TT); UNUSED, to; token)
            }
            Self::SendSender { from, to, token } => {
                tuple!(out, traced(token, op::SEND_SENDER, op::SEND_SENDER_TT); from, to; token)
            }
            Self::RegSend { from, to, token } => {
                tuple!(out, traced(token, op::REG_SEND, op::REG_SEND_TT); from, UNUSED, to; token)
            }
            Self::AliasSend { from, to, token } => {
                tuple!(out, traced(token, op::ALIAS_SEND, op::ALIAS_SEND_TT); from, to; token)
            }
            Self::Altact { priority, exit, from, to, token } => {
                let kind = match to {
                    To::Pid(_) => 0,
                    To::Name(_) => altact::NAME,
                    To::Alias(_) => altact::ALIAS,
                };
                let flags = kind
                    | if *priority { altact::PRIORITY } else { 0 }
                    | if *exit { altact::EXIT } else { 0 }
                    | if token.is_some() { altact::TOKEN } else { 0 };
                let flags = u64::from(flags);
                match to {
                    To::Pid(to) => tuple!(out, op::ALTACT_SIG_SEND; flags, from, to; token),
                    To::Name(to) => tuple!(out, op::ALTACT_SIG_SEND; flags, from, to; token),
                    To::Alias(to) => tuple!(out, op::ALTACT_SIG_SEND; flags, from, to; token),
                }
            }
            Self::Exit { from, to, token, reason: None } => {
                tuple!(out, traced(token, op::PAYLOAD_EXIT, op::PAYLOAD_EXIT_TT); from, to; token)
            }
            // The token precedes the reason, here and below.
            Self::Exit { from, to, token, reason } => {
                tuple!(out, traced(token, op::EXIT, op::EXIT_TT); from, to; token, reason)
            }
            Self::Exit2 { from, to, token, reason: None } => {
                tuple!(out, traced(token, op::PAYLOAD_EXIT2, op::PAYLOAD_EXIT2_TT); from, to; token)
            }
            Self::Exit2 { from, to, token, reason } => {
                tuple!(out, traced(token, op::EXIT2, op::EXIT2_TT); from, to; token, reason)
            }
            Self::Monitor { from, to, reference } => {
                tuple!(out, op::MONITOR_P; from, to, reference;)
            }
            Self::Demonitor { from, to, reference } => {
                tuple!(out, op::DEMONITOR_P; from, to, reference;)
            }
            Self::Down { from, to, reference, reason } => {
                let number = match reason {
                    Some(_) => op::MONITOR_P_EXIT,
                    None => op::PAYLOAD_MONITOR_P_EXIT,
                };
                tuple!(out, number; from, to, reference; reason)
            }
            Self::GroupLeader { leader, member } => tuple!(out, op::GROUP_LEADER; leader, member;),
            Self::Spawn(spawn) => {
                let Spawn { request, from, group_leader, module, function, arity, options, token } =
                    &**spawn;
                let called = (module, function, *arity);
                let number = traced(token, op::SPAWN_REQUEST, op::SPAWN_REQUEST_TT);
                tuple!(out, number; request, from, group_leader, called, options; token)
            }
            Self::Spawned { request, to, linked, monitored, result, token } => {
                let linked = if *linked { spawned::LINKED } else { 0 };
                let flags = linked | if *monitored { spawned::MONITORED } else { 0 };
                let (flags, number) =
                    (flags as u64, traced(token, op::SPAWN_REPLY, op::SPAWN_REPLY_TT));
                match result {
                    Ok(pid) => tuple!(out, number; request, to, flags, pid; token),
                    Err(reason) => tuple!(out, number; request, to, flags, reason; token),
                }
            }
        }
    }
}

/// The field that contained a cookie before OTP R9.
const UNUSED: Atom = Atom::EMPTY;

/// A field of a control message.
trait Field {
    fn put<B: Buffer>(&self, out: &mut Writer<'_, '_, B>) -> Result<(), EncodeError>;
}

macro_rules! fields {
    ($($kind:ty: |$out:ident, $field:ident| $put:expr;)*) => {
        $(impl Field for $kind {
            fn put<B: Buffer>(&self, $out: &mut Writer<'_, '_, B>) -> Result<(), EncodeError> {
                let $field = self;
                $put;
                Ok(())
            }
        })*
    };
}

fields! {
    u64: |out, number| out.unsigned(*number);
    Atom: |out, atom| out.atom(atom);
    Pid: |out, pid| out.pid(pid);
    Reference: |out, reference| out.reference(reference);
    Named: |out, named| match named {
        Named::Pid(pid) => out.pid(pid),
        Named::Name(name) => out.atom(name),
    };
    // Module, name and arity of a function.
    (&Atom, &Atom, u8): |out, function| {
        out.tuple(3)?;
        out.atom(function.0);
        out.atom(function.1);
        out.integer(function.2.into());
    };
    Vec<Term>: |out, terms| {
        if !terms.is_empty() {
            out.list(terms.len())?;
        }
        for term in terms {
            out.term(term)?;
        }
        out.nil();
    };
}
