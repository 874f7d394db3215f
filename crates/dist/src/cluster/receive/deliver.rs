//! Delivery of incoming payloads to local processes as typed messages.

use std::any::TypeId;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use purlin::remote::LocalProcess;
use purlin_dist_protocol::frame::{InvalidMessage, NoValue, Unread};
use purlin_term::{Reference, Term};
use serde::de::DeserializeOwned;
use tracing::warn;

use crate::cluster::core::Core;
use crate::cluster::handle::Cluster;
use crate::cluster::receive::decoders::{ByAlias, LastUsed, Target};

impl Core {
    /// Registers a decoder from terms to messages of type `M`.
    pub(crate) fn decodes<M, F>(&self, read: F)
    where
        M: Send + 'static,
        F: Fn(Term) -> Result<M, String> + Send + Sync + 'static,
    {
        self.decoders.add_of_terms::<M>(move |to, term| {
            to.send::<M>(read(term)?).map_err(|error| error.to_string())
        });
    }

    /// Sends a term to a local process, as a message of its type.
    pub(crate) fn send_term(&self, process: LocalProcess, term: Term) {
        if let Ok(bytes) = term.encode() {
            // The encoding is well-formed.
            let to = Target { process, alias: None, over: None };
            let _ = self.receive(to, Unread::whole(&bytes), &mut LastUsed::default());
        }
    }

    /// Sends a term to an alias of this node. Returns whether it is one.
    pub(crate) fn send_to_own_alias(
        &self,
        alias: &Reference,
        message: &Term,
        priority: bool,
    ) -> bool {
        let Some((ours, number)) = self.ids.alias_of(alias) else { return false };
        if let Some(process) = self.ids.node.local_process(ours)
            && let Ok(bytes) = message.encode()
        {
            let to = Target { process, alias: Some(ByAlias { number, priority }), over: None };
            let _ = self.receive(to, Unread::whole(&bytes), &mut LastUsed::default());
        }
        true
    }

    /// Delivers a payload to a local process, as a message of its type. A payload that cannot be decoded is counted,
    /// and the first one is logged. A payload that is not a term within the limits is an error; the connection counts it.
    pub(crate) fn receive(
        &self,
        to: Target<'_>,
        message: Unread<'_>,
        last: &mut LastUsed,
    ) -> Result<(), InvalidMessage> {
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
            Some(Ok(Err(NoValue::Invalid(invalid)))) => return Err(invalid),
            Some(Ok(Err(NoValue::Other(error)))) => error.to_string(),
            Some(Err(_)) => "the function that reads it has panicked".to_owned(),
            None => "the cluster has no decoder for its messages".to_owned(),
        };
        // ORDER: relaxed: a counter that orders nothing else.
        if self.undecoded.fetch_add(1, Ordering::Relaxed) == 0 {
            warn!(process = %id, "a message from elsewhere was dropped: {error}");
        }
        Ok(())
    }
}

impl Cluster {
    /// Decodes terms as messages of type `M` by `serde`, for all local processes that receive this type.
    pub fn receives<M: DeserializeOwned + Send + 'static>(&self) {
        let decode = |to: Target<'_>, message: Unread<'_>| {
            // The recipient's type is the one this decoder was found for.
            let _ = to.send(message.value::<M>()?);
            Ok(())
        };
        self.core().decoders.add(TypeId::of::<M>(), Arc::new(decode));
    }

    /// Like [`Cluster::receives`], with a function instead of `serde`.
    pub fn receives_by<M, F>(&self, read: F)
    where
        M: Send + 'static,
        F: Fn(Term) -> Result<M, String> + Send + Sync + 'static,
    {
        self.core().decodes(read);
    }

    /// Number of remote messages dropped because they could not be decoded for their process.
    #[must_use]
    pub fn undecoded(&self) -> u64 {
        self.core().undecoded.load(Ordering::Relaxed)
    }
}
