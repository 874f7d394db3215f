//! Exit reasons as terms, and back. Pure.
//!
//! | [`ExitReason`] | term |
//! |---|---|
//! | the reasons of Erlang | `normal`, `shutdown`, `kill`, `killed`, `noproc`, `noconnection`, `timeout`, `system_limit` |
//! | `ShutdownWith(why)` | `{shutdown, Why}` |
//! | `Error(why)` | `Why` |
//! | `Panic` | `{panic, Message, Place}`, binaries |
//!
//! `Why` is the term itself if it came from another node as [`TermReason`] and can be encoded, otherwise a binary of its
//! `Display` text. WHY: an exit or down signal is sent once, and must not be lost for its reason.

use std::panic::{AssertUnwindSafe, catch_unwind};

use purlin::remote::Answer;
use purlin::{Cause, ExitReason};
use purlin_dist_protocol::NodeName;
use purlin_dist_protocol::frame::InvalidMessage;
use purlin_dist_protocol::link::DeferredAnswer;
use purlin_term::{Atom, Term};

use crate::cluster::rpc::encodable::encodable;

/// A term as an exit reason. A reason from another node contains it ([`purlin::Cause::downcast_ref`]); a process
/// that exits with it sends that term to other nodes.
///
/// ```
/// use purlin::ExitReason;
/// use purlin_dist::cluster::TermReason;
/// use purlin_term::Term;
///
/// let reason = ExitReason::error(TermReason(Term::tuple([Term::atom("badarg"), Term::from(7)])));
/// assert_eq!(reason.to_string(), "{badarg,7}");
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{0}")]
pub struct TermReason(pub Term);

/// The result of a function as an exit reason, counted as an answer to the node that has requested it until its message
/// has been sent.
#[derive(Debug, thiserror::Error)]
#[error("{term}")]
pub(super) struct CountedReason {
    pub(super) term: Term,
    pub(super) _counted: Option<DeferredAnswer>,
}

/// The reasons that are atoms.
const ATOMS: [(&str, ExitReason); 8] = [
    ("normal", ExitReason::Normal),
    ("shutdown", ExitReason::Shutdown),
    ("kill", ExitReason::Kill),
    ("killed", ExitReason::Killed),
    ("noproc", ExitReason::NoProcess),
    ("noconnection", ExitReason::NoConnection),
    ("timeout", ExitReason::Timeout),
    ("system_limit", ExitReason::SystemLimit),
];

/// Converts an exit reason to a term that can be encoded as a part of another.
pub(super) fn to_term(reason: &ExitReason) -> Term {
    match reason {
        ExitReason::ShutdownWith(why) => tagged!("shutdown", cause_to_term(why)),
        ExitReason::Error(why) => cause_to_term(why),
        ExitReason::Panic(panic) => tagged!("panic", panic.message.as_str(), panic.place.as_str()),
        other => match ATOMS.iter().find(|(_, reason)| reason == other) {
            Some((name, _)) => Term::atom(name),
            None => Term::from(other.to_string().as_str()),
        },
    }
}

fn cause_to_term(why: &Cause) -> Term {
    if let Some(Answer(why)) = why.downcast_ref() {
        return cause_to_term(why);
    }
    match (why.downcast_ref(), why.downcast_ref()) {
        (Some(TermReason(term)), _) if encodable(term).is_ok() => term.clone(),
        // The result of a function has been checked.
        (None, Some(CountedReason { term, .. })) => term.clone(),
        // WHY caught: `Display` is user code, and a panic would end the connection.
        _ => match catch_unwind(AssertUnwindSafe(|| why.to_string())) {
            Ok(text) => Term::from(text.as_str()),
            Err(_) => Term::from("its Display has panicked"),
        },
    }
}

/// The exit reason `{bad_reason, Why}`, in place of one that cannot be decoded.
pub(super) fn bad_reason(why: &InvalidMessage) -> Term {
    tagged!("bad_reason", why.to_string().as_str())
}

/// The exit reason `{badarg, Why}` of a link to a name.
pub(super) fn link_to_name(name: &Atom, node: &NodeName) -> ExitReason {
    let why = format!(
        "{name} on {node} is a name, and a process links to a pid only: monitor the name, or link to \
         the pid that erlang:whereis/1 returns there"
    );
    ExitReason::error(TermReason(tagged!("badarg", why.as_str())))
}

/// Converts a term to an exit reason.
pub(super) fn from_term(term: Term) -> ExitReason {
    if let Some((_, reason)) = ATOMS.into_iter().find(|(name, _)| term.is_atom(name)) {
        return reason;
    }
    match term.as_tuple() {
        Some([tag, why]) if tag.is_atom("shutdown") => {
            ExitReason::shutdown_with(TermReason(why.clone()))
        }
        _ => ExitReason::error(TermReason(term)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_of_erlang_survive_the_round_trip() {
        let atoms = ["normal", "shutdown", "kill", "killed", "noproc", "noconnection", "timeout"];
        let other = [
            Term::atom("system_limit"),
            Term::atom("badarg"),
            Term::tuple([Term::atom("shutdown"), Term::from(7)]),
            Term::tuple([Term::atom("badmatch"), Term::NIL]),
        ];
        for term in atoms.map(Term::atom).into_iter().chain(other) {
            assert_eq!(to_term(&from_term(term.clone())), term);
        }
    }

    #[test]
    fn local_reasons_become_binaries_of_their_text() {
        assert_eq!(to_term(&ExitReason::error("no disk")), Term::from("no disk"));
        let why = to_term(&ExitReason::shutdown_with("upgrade"));
        assert_eq!(why, Term::tuple([Term::atom("shutdown"), Term::from("upgrade")]));
    }

    #[derive(Debug)]
    struct PanicsWhenShown;

    impl std::fmt::Display for PanicsWhenShown {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("it is the user's");
        }
    }

    impl std::error::Error for PanicsWhenShown {}

    #[test]
    fn a_panic_of_the_display_of_a_reason_is_caught() {
        let why = to_term(&ExitReason::error(PanicsWhenShown));
        assert_eq!(why, Term::from("its Display has panicked"));
    }

    #[test]
    fn a_term_that_cannot_be_encoded_becomes_a_binary_of_its_text() {
        let why = Term::tuple([Term::atom("x"), Term::Local([1, 2, 3][..].into())]);
        let text = Term::from("{x,#Local<3 bytes>}");
        assert_eq!(to_term(&ExitReason::error(TermReason(why.clone()))), text);
        let shutdown = to_term(&ExitReason::shutdown_with(TermReason(why)));
        assert_eq!(shutdown, Term::tuple([Term::atom("shutdown"), text]));
    }
}
