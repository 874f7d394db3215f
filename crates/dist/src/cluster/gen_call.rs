//! `gen_server:call` on the wire: `{'$gen_call', {From, Tag}, Request}`, answered by `{Tag, Reply}`.

use std::sync::Arc;

use purlin::remote::RemoteSignal;
use purlin_term::{Pid, Reference, Term};

use super::connection::Connection;
use super::core::Core;
use super::link_table::RemoteMonitor;
use crate::control::Control;

/// A call from a remote process.
///
/// ```
/// use purlin_dist::cluster::GenCall;
/// use purlin_term::Term;
///
/// let call: Term = "{'$gen_call', {self, tag}, left}".parse()?;
/// let no_pid = GenCall::try_from(call).unwrap_err();
/// assert_eq!(no_pid.to_string(), "{'$gen_call',{self,tag},left}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct GenCall {
    /// The caller.
    pub from: Pid,
    /// The tag that the answer carries.
    pub tag: Term,
    /// The request.
    pub request: Term,
}

impl TryFrom<Term> for GenCall {
    /// The term, if it is not a call.
    type Error = Term;

    fn try_from(term: Term) -> Result<Self, Term> {
        Self::marked("$gen_call", term)
    }
}

impl GenCall {
    /// Decodes `{Mark, {From, Tag}, Request}`; returns any other term as the error.
    pub(super) fn marked(mark: &str, mut term: Term) -> Result<Self, Term> {
        if let Term::Tuple(parts) = &mut term
            && let [is, Term::Tuple(from), request] = &mut parts[..]
            && is.is_atom(mark)
            && let [Term::Pid(from), tag] = &mut from[..]
        {
            let [tag, request] = [tag, request].map(|part| std::mem::replace(part, Term::NIL));
            return Ok(Self { from: (**from).clone(), tag, request });
        }
        Err(term)
    }

    /// Encodes the call.
    pub(super) fn into_term(self) -> Term {
        let from = Term::tuple([Term::from(self.from), self.tag]);
        Term::tuple([Term::atom("$gen_call"), from, self.request])
    }

    /// The alias in the tag. An answer sent to it is dropped if it comes too late.
    fn alias(&self) -> Option<&Reference> {
        let Term::ImproperList(list) = &self.tag else { return None };
        match (list.elements(), list.tail()) {
            ([mark], Term::Reference(alias)) if mark.is_atom("alias") => Some(alias),
            _ => None,
        }
    }

    /// Makes the caller's monitor fire with `why`, whether the server is alive or not: the call will not be answered.
    pub(super) fn refuse(self, core: &Core, connection: &Arc<Connection>, why: Term) {
        let reference = self.alias().or(self.tag.as_reference());
        let Some(reference) = reference else { return };
        let mut ledger = connection.link_table();
        let Some((monitor, ours, theirs)) = ledger.unwatched(&self.from, reference) else { return };
        connection.deliver(&core.ids.node, ours, RemoteSignal::Demonitor(monitor));
        drop(ledger);
        let RemoteMonitor { watcher, reference, watched } = theirs;
        let down = Control::down(connection.flags(), watched, watcher, reference, why);
        core.send_after_pending(connection, &self.from, None, down);
    }

    /// Sends the answer.
    pub(super) fn answer(self, core: &Core, connection: &Arc<Connection>, reply: Term) {
        // The answer does not identify the sender: any local pid will do.
        let from = core.ids.pid_of_node();
        let by_alias = self
            .alias()
            .and_then(|alias| Control::to_alias(connection.flags(), from.clone(), alias.clone()));
        let to_pid = || Control::to_pid(connection.flags(), from, self.from.clone());
        let control = by_alias.unwrap_or_else(to_pid);
        let answer = Term::tuple([self.tag, reply]);
        core.send_after_pending(connection, &self.from, None, (control, Some(answer)));
    }
}
