//! Delivery of incoming payloads to local processes as typed messages.

use std::any::TypeId;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

use purlin::LookupError;
use purlin::remote::LocalProcess;
use purlin_term::Term;
use tracing::warn;

use super::core::Core;
use super::decoders::{LastUsed, of_terms};
use super::gen_call::GenCall;
use crate::frame::{Broken, NoValue, Unread};

/// Recipient of a payload: a process, addressed by an alias if `alias` has its number (L9).
pub(super) struct Target {
    pub(super) process: LocalProcess,
    pub(super) alias: Option<u64>,
}

impl From<LocalProcess> for Target {
    fn from(process: LocalProcess) -> Self {
        Self { process, alias: None }
    }
}

impl Target {
    /// Sends the recipient a message.
    pub(super) fn send<M: Send + 'static>(self, message: M) -> Result<(), LookupError> {
        match self.alias {
            Some(number) => self.process.alias(number)?.send(message),
            None => self.process.pid()?.send(message),
        }
        Ok(())
    }
}

impl Core {
    /// Registers a decoder from terms to messages of type `M`.
    pub(super) fn decodes<M, F>(&self, read: F)
    where
        M: Send + 'static,
        F: Fn(Term) -> Result<M, String> + Send + Sync + 'static,
    {
        let decode =
            move |to: Target, term| to.send::<M>(read(term)?).map_err(|error| error.to_string());
        self.decoders.add(TypeId::of::<M>(), of_terms(decode));
    }

    /// Answers a call from a local process, or from a remote one whose node is connected.
    pub(super) fn reply(&self, call: GenCall, answer: Term) {
        if let Some(ours) = self.ids.ours(&call.from) {
            if let Some(ours) = self.ids.node.local_process(ours) {
                self.tell(ours, Term::tuple([call.tag, answer]));
            }
        } else if let Ok(node) = call.from.node.as_str().parse()
            && let Some(connection) = self.connection(&node)
        {
            call.answer(self, &connection, answer);
        }
    }

    /// Sends a term to a local process, as a message of its type.
    pub(super) fn tell(&self, process: LocalProcess, term: Term) {
        if let Ok(bytes) = term.encode() {
            // The encoding is well-formed.
            let _ = self.receive(process.into(), Unread::whole(&bytes), &mut LastUsed::default());
        }
    }

    /// Delivers a payload to a local process, as a message of its type. A payload that cannot be decoded is counted,
    /// and the first one is logged. A payload that is not a well-formed term is an error, which ends the connection.
    pub(super) fn receive(
        &self,
        to: Target,
        message: Unread<'_>,
        last: &mut LastUsed,
    ) -> Result<(), Broken> {
        let kind = to.process.message_type();
        if kind == TypeId::of::<Term>() {
            let term = message.term()?;
            // The process receives terms.
            let _ = to.send(term);
            return Ok(());
        }
        let (id, decode) = (to.process.id(), self.decoders.find(kind, last));
        let decoded = decode.map(|decode| catch_unwind(AssertUnwindSafe(|| decode(to, message))));
        let error = match decoded {
            Some(Ok(Ok(()))) => return Ok(()),
            Some(Ok(Err(NoValue::Broken(broken)))) => return Err(broken),
            Some(Ok(Err(NoValue::Other(error)))) => error.to_string(),
            Some(Err(_)) => "the function that reads it has panicked".to_owned(),
            None => "the cluster was not told how to read its messages".to_owned(),
        };
        // ORDER: relaxed: a counter that orders nothing else.
        if self.undecoded.fetch_add(1, Ordering::Relaxed) == 0 {
            warn!(process = %id, "a message from elsewhere was dropped: {error}");
        }
        Ok(())
    }
}
