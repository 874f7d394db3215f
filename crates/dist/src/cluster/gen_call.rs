//! `gen_server:call` as it crosses: `{'$gen_call', {From, Tag}, Request}`, answered by `{Tag, Reply}`.

use std::sync::Arc;

use purlin::foreign::ForeignSignal;
use purlin_term::{Pid, Reference, Term};

use super::connection::Connection;
use super::core::Core;
use super::ledger::Theirs;
use crate::control::Control;

/// A call that a process elsewhere has made.
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
    /// Who asks.
    pub from: Pid,
    /// What the answer is to carry.
    pub tag: Term,
    /// What is asked.
    pub request: Term,
}

impl TryFrom<Term> for GenCall {
    /// The term, which is no call.
    type Error = Term;

    fn try_from(term: Term) -> Result<Self, Term> {
        Self::marked("$gen_call", term)
    }
}

impl GenCall {
    /// `{Mark, {From, Tag}, Request}`; else the term.
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

    /// The call as a term, for a process elsewhere.
    pub(super) fn into_term(self) -> Term {
        let from = Term::tuple([Term::from(self.from), self.tag]);
        Term::tuple([Term::atom("$gen_call"), from, self.request])
    }

    /// The alias by which the answer is to come, so that one that is late is not seen.
    fn alias(&self) -> Option<&Reference> {
        let Term::ImproperList(list) = &self.tag else { return None };
        match (list.elements(), list.tail()) {
            ([mark], Term::Reference(alias)) if mark.is_atom("alias") => Some(alias),
            _ => None,
        }
    }

    /// Has the caller's monitor fire: nobody will answer, whether the server lives or not.
    pub(super) fn refuse(self, core: &Core, connection: &Arc<Connection>, why: Term) {
        let reference = self.alias().or(self.tag.as_reference());
        let Some(reference) = reference else { return };
        let mut ledger = connection.ledger();
        let Some((monitor, ours, theirs)) = ledger.unwatched(&self.from, reference) else { return };
        connection.deliver(&core.ids.node, ours, ForeignSignal::Demonitor(monitor));
        drop(ledger);
        let Theirs { watcher, reference, watched } = theirs;
        let down = Control::down(connection.flags(), watched, watcher, reference, why);
        core.say_behind(connection, &self.from, None, down);
    }

    /// Answers it.
    pub(super) fn answer(self, core: &Core, connection: &Arc<Connection>, reply: Term) {
        // Who answers is not told: any of ours will do.
        let from = core.ids.pid_of_node();
        let by_alias = self
            .alias()
            .and_then(|alias| Control::to_alias(connection.flags(), from.clone(), alias.clone()));
        let to_pid = || Control::to_pid(connection.flags(), from, self.from.clone());
        let control = by_alias.unwrap_or_else(to_pid);
        let answer = Term::tuple([self.tag, reply]);
        core.say_behind(connection, &self.from, None, (control, Some(answer)));
    }
}
