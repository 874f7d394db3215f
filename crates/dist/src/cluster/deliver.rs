//! Terms that become messages of processes of ours.

use std::any::TypeId;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

use purlin::LookupError;
use purlin::foreign::LocalProcess;
use purlin_term::Term;
use tracing::warn;

use super::core::Core;
use super::gen_call::GenCall;

/// Makes a message out of a term and sends it, by an alias if that has a number; an error says why it is none.
pub(super) type Decode =
    Arc<dyn Fn(LocalProcess, Option<u64>, Term) -> Result<(), String> + Send + Sync>;

impl Core {
    /// Has terms read as messages of a type.
    pub(super) fn decodes<M, F>(&self, read: F)
    where
        M: Send + 'static,
        F: Fn(Term) -> Result<M, String> + Send + Sync + 'static,
    {
        let decode = move |process: LocalProcess, alias: Option<u64>, term: Term| {
            send(process, alias, read(term)?).map_err(|error| error.to_string())
        };
        let mut decoders = self.decoders.write().unwrap_or_else(PoisonError::into_inner);
        decoders.insert(TypeId::of::<M>(), Arc::new(decode));
    }

    /// Answers a call, if its node is there.
    pub(super) fn reply(&self, call: GenCall, answer: Term) {
        if let Some(ours) = self.ids.ours(&call.from) {
            if let Some(ours) = self.ids.node.local_process(ours) {
                self.receive(ours, None, Term::tuple([call.tag, answer]));
            }
        } else if let Ok(node) = call.from.node.as_str().parse()
            && let Some(connection) = self.connection(&node)
        {
            call.answer(self, &connection, answer);
        }
    }

    /// Gives a process of ours a term from elsewhere, as a message of its type. What is none is counted, and
    /// logged the first time.
    pub(super) fn receive(&self, process: LocalProcess, alias: Option<u64>, term: Term) {
        let kind = process.message_type();
        if kind == TypeId::of::<Term>() {
            // It is of that type.
            let _ = send(process, alias, term);
            return;
        }
        let decoders = self.decoders.read().unwrap_or_else(PoisonError::into_inner);
        let (id, decode) = (process.id(), decoders.get(&kind).cloned());
        drop(decoders);
        let result = match decode {
            Some(decode) => catch_unwind(AssertUnwindSafe(|| decode(process, alias, term)))
                .unwrap_or_else(|_| Err("the function that reads it has panicked".to_owned())),
            None => Err("the cluster was not told how to read its messages".to_owned()),
        };
        if let Err(error) = result {
            // ORDER: relaxed: it counts, and nothing else.
            if self.undecoded.fetch_add(1, Ordering::Relaxed) == 0 {
                warn!(process = %id, "a message from elsewhere was dropped: {error}");
            }
        }
    }
}

/// Sends a message to a process, by an alias if that has a number.
fn send<M: Send + 'static>(
    to: LocalProcess,
    alias: Option<u64>,
    message: M,
) -> Result<(), LookupError> {
    match alias {
        Some(number) => to.alias(number)?.send(message),
        None => to.pid()?.send(message),
    }
    Ok(())
}
