//! Encoder for control messages.

use purlin_term::{Atom, Buffer, EncodeError, Pid, Reference, Term, Writer};

use crate::control::decode::{altact, spawned};
use crate::control::{Control, Named, Spawn, To};

impl Control {
    /// Encodes the control message as a tuple.
    ///
    /// COST: allocates only for the growth of the buffer.
    ///
    /// # Errors
    /// A trace token, a reason or an option does not fit into the external term format.
    pub fn write<B: Buffer>(&self, out: &mut Writer<'_, '_, B>) -> Result<(), EncodeError> {
        match self {
            Self::Link { from, to } => tuple(out, 1, 2)?.pid(from).pid(to).end(),
            Self::Unlink { from, to } => tuple(out, 4, 2)?.pid(from).pid(to).end(),
            Self::UnlinkId { id, from, to } => tuple(out, 35, 3)?.id(*id).pid(from).pid(to).end(),
            Self::UnlinkIdAck { id, from, to } => {
                tuple(out, 36, 3)?.id(*id).pid(from).pid(to).end()
            }
            Self::Send { to, token } => {
                traced(out, 2, 12, 2, token)?.atom(&UNUSED).pid(to).token(token)
            }
            Self::SendSender { from, to, token } => {
                traced(out, 22, 23, 2, token)?.pid(from).pid(to).token(token)
            }
            Self::RegSend { from, to, token } => {
                traced(out, 6, 16, 3, token)?.pid(from).atom(&UNUSED).atom(to).token(token)
            }
            Self::AliasSend { from, to, token } => {
                traced(out, 33, 34, 2, token)?.pid(from).reference(to).token(token)
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
                let tuple = traced(out, 37, 37, 3, token)?.integer(flags.into()).pid(from);
                match to {
                    To::Pid(pid) => tuple.pid(pid),
                    To::Name(name) => tuple.atom(name),
                    To::Alias(alias) => tuple.reference(alias),
                }
                .token(token)
            }
            Self::Exit { from, to, token, reason: None } => {
                traced(out, 24, 25, 2, token)?.pid(from).pid(to).token(token)
            }
            // The token precedes the reason, here and below.
            Self::Exit { from, to, token, reason: Some(reason) } => {
                traced(out, 3, 13, 3, token)?.pid(from).pid(to).token(token)?;
                out.term(reason)
            }
            Self::Exit2 { from, to, token, reason: None } => {
                traced(out, 26, 27, 2, token)?.pid(from).pid(to).token(token)
            }
            Self::Exit2 { from, to, token, reason: Some(reason) } => {
                traced(out, 8, 18, 3, token)?.pid(from).pid(to).token(token)?;
                out.term(reason)
            }
            Self::Monitor { from, to, reference } => {
                tuple(out, 19, 3)?.pid(from).named(to).reference(reference).end()
            }
            Self::Demonitor { from, to, reference } => {
                tuple(out, 20, 3)?.pid(from).named(to).reference(reference).end()
            }
            Self::Down { from, to, reference, reason: None } => {
                tuple(out, 28, 3)?.named(from).pid(to).reference(reference).end()
            }
            Self::Down { from, to, reference, reason: Some(reason) } => {
                tuple(out, 21, 4)?.named(from).pid(to).reference(reference).end()?;
                out.term(reason)
            }
            Self::GroupLeader { leader, member } => tuple(out, 7, 2)?.pid(leader).pid(member).end(),
            Self::Spawn(spawn) => spawn_request(spawn, out),
            Self::Spawned { request, to, linked, monitored, result, token } => {
                let flags = if *linked { spawned::LINKED } else { 0 }
                    | if *monitored { spawned::MONITORED } else { 0 };
                let tuple = traced(out, 31, 32, 4, token)?.reference(request).pid(to);
                let tuple = tuple.integer(flags);
                match result {
                    Ok(pid) => tuple.pid(pid),
                    Err(reason) => tuple.atom(reason),
                }
                .token(token)
            }
        }
    }
}

fn spawn_request<B: Buffer>(spawn: &Spawn, out: &mut Writer<'_, '_, B>) -> Result<(), EncodeError> {
    let Spawn { request, from, group_leader, module, function, arity, options, token } = spawn;
    traced(out, 29, 30, 5, token)?.reference(request).pid(from).pid(group_leader).end()?;
    out.tuple(3)?;
    out.atom(module);
    out.atom(function);
    out.integer((*arity).into());
    if !options.is_empty() {
        out.list(options.len())?;
    }
    for option in options {
        out.term(option)?;
    }
    out.nil();
    Tuple(out).token(token)
}

/// The field that contained a cookie before OTP R9.
const UNUSED: Atom = Atom::EMPTY;

/// Begins a tuple of a number and `fields` more fields.
fn tuple<'o, 'b, 'c, B: Buffer>(
    out: &'o mut Writer<'b, 'c, B>,
    number: i64,
    fields: usize,
) -> Result<Tuple<'o, 'b, 'c, B>, EncodeError> {
    out.tuple(1 + fields)?;
    Ok(Tuple(out).integer(number))
}

/// Begins a tuple whose number depends on whether there is a trace token.
fn traced<'o, 'b, 'c, B: Buffer>(
    out: &'o mut Writer<'b, 'c, B>,
    plain: i64,
    with_token: i64,
    fields: usize,
    token: &Option<Term>,
) -> Result<Tuple<'o, 'b, 'c, B>, EncodeError> {
    match token {
        None => tuple(out, plain, fields),
        Some(_) => tuple(out, with_token, fields + 1),
    }
}

/// A tuple whose fields are being written.
struct Tuple<'o, 'b, 'c, B>(&'o mut Writer<'b, 'c, B>);

impl<B: Buffer> Tuple<'_, '_, '_, B> {
    fn integer(self, value: i64) -> Self {
        self.0.integer(value);
        self
    }

    fn id(self, value: u64) -> Self {
        self.0.unsigned(value);
        self
    }

    fn atom(self, atom: &Atom) -> Self {
        self.0.atom(atom);
        self
    }

    fn pid(self, pid: &Pid) -> Self {
        self.0.pid(pid);
        self
    }

    fn reference(self, reference: &Reference) -> Self {
        self.0.reference(reference);
        self
    }

    fn named(self, named: &Named) -> Self {
        match named {
            Named::Pid(pid) => self.pid(pid),
            Named::Name(name) => self.atom(name),
        }
    }

    fn token(self, token: &Option<Term>) -> Result<(), EncodeError> {
        token.as_ref().map_or(Ok(()), |token| self.0.term(token))
    }

    fn end(self) -> Result<(), EncodeError> {
        Ok(())
    }
}
