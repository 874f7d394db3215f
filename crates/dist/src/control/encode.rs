//! A control message to a term.

use purlin_term::{Atom, Pid, Reference, Term};

use crate::control::decode::{altact, spawned};
use crate::control::{Control, Named, Spawn, To};

impl From<Control> for Term {
    fn from(control: Control) -> Self {
        match control {
            Control::Link { from, to } => tuple(1, [from.term(), to.term()]),
            Control::Unlink { from, to } => tuple(4, [from.term(), to.term()]),
            Control::UnlinkId { id, from, to } => {
                tuple(35, [Term::from(id), from.term(), to.term()])
            }
            Control::UnlinkIdAck { id, from, to } => {
                tuple(36, [Term::from(id), from.term(), to.term()])
            }
            Control::Send { to, token } => traced(2, 12, [unused(), to.term()], token),
            Control::SendSender { from, to, token } => {
                traced(22, 23, [from.term(), to.term()], token)
            }
            Control::RegSend { from, to, token } => {
                traced(6, 16, [from.term(), unused(), to.term()], token)
            }
            Control::AliasSend { from, to, token } => {
                traced(33, 34, [from.term(), to.term()], token)
            }
            Control::Altact { priority, exit, from, to, token } => {
                let (to, kind) = match to {
                    To::Pid(pid) => (pid.term(), 0),
                    To::Name(name) => (name.term(), altact::NAME),
                    To::Alias(alias) => (alias.term(), altact::ALIAS),
                };
                let flags = kind
                    | if priority { altact::PRIORITY } else { 0 }
                    | if exit { altact::EXIT } else { 0 }
                    | if token.is_some() { altact::TOKEN } else { 0 };
                traced(37, 37, [Term::from(flags), from.term(), to], token)
            }
            Control::Exit { from, to, token, reason } => match reason {
                Some(reason) => ended(3, 13, from, to, token, reason),
                None => traced(24, 25, [from.term(), to.term()], token),
            },
            Control::Exit2 { from, to, token, reason } => match reason {
                Some(reason) => ended(8, 18, from, to, token, reason),
                None => traced(26, 27, [from.term(), to.term()], token),
            },
            Control::Monitor { from, to, reference } => {
                tuple(19, [from.term(), to.term(), reference.term()])
            }
            Control::Demonitor { from, to, reference } => {
                tuple(20, [from.term(), to.term(), reference.term()])
            }
            Control::Down { from, to, reference, reason } => {
                let fields = [from.term(), to.term(), reference.term()];
                match reason {
                    Some(reason) => tuple(21, fields.into_iter().chain([reason])),
                    None => tuple(28, fields),
                }
            }
            Control::GroupLeader { leader, member } => tuple(7, [leader.term(), member.term()]),
            Control::Spawn(spawn) => spawn_request(*spawn),
            Control::Spawned { request, to, linked, monitored, result, token } => {
                let flags = if linked { spawned::LINKED } else { 0 }
                    | if monitored { spawned::MONITORED } else { 0 };
                let result = result.map_or_else(Atom::term, Pid::term);
                traced(31, 32, [request.term(), to.term(), Term::from(flags), result], token)
            }
        }
    }
}

fn spawn_request(spawn: Spawn) -> Term {
    let Spawn { request, from, group_leader, module, function, arity, options, token } = spawn;
    let function = Term::tuple([module.term(), function.term(), Term::from(arity)]);
    let (from, group_leader) = (from.term(), group_leader.term());
    traced(29, 30, [request.term(), from, group_leader, function, Term::List(options)], token)
}

/// The token stands before the reason.
fn ended(
    plain: i64,
    with_token: i64,
    from: Pid,
    to: Pid,
    token: Option<Term>,
    reason: Term,
) -> Term {
    let number = if token.is_some() { with_token } else { plain };
    tuple(number, [from.term(), to.term()].into_iter().chain(token).chain([reason]))
}

fn traced<const N: usize>(
    plain: i64,
    with_token: i64,
    fields: [Term; N],
    token: Option<Term>,
) -> Term {
    let number = if token.is_some() { with_token } else { plain };
    tuple(number, fields.into_iter().chain(token))
}

fn tuple(number: i64, fields: impl IntoIterator<Item = Term>) -> Term {
    Term::tuple([Term::Integer(number)].into_iter().chain(fields))
}

/// Where a cookie stood before OTP R9.
fn unused() -> Term {
    Term::Atom(Atom::EMPTY)
}

trait IntoTerm {
    fn term(self) -> Term;
}

impl IntoTerm for Pid {
    fn term(self) -> Term {
        Term::Pid(Box::new(self))
    }
}

impl IntoTerm for Reference {
    fn term(self) -> Term {
        Term::Reference(Box::new(self))
    }
}

impl IntoTerm for Atom {
    fn term(self) -> Term {
        Term::Atom(self)
    }
}

impl IntoTerm for Named {
    fn term(self) -> Term {
        match self {
            Self::Pid(pid) => pid.term(),
            Self::Name(name) => name.term(),
        }
    }
}
