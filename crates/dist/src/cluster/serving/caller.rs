//! Who has called a server of ours from elsewhere.

use std::sync::{Arc, Weak};

use purlin::Reply;
use purlin::foreign::reply;
use purlin_term::Term;
use serde::Serialize;
use tracing::warn;

use crate::cluster::core::Core;
use crate::cluster::gen_call::GenCall;

/// A process elsewhere that has called a server of ours, and waits for the answer.
#[derive(Debug)]
pub struct Caller {
    core: Weak<Core>,
    call: GenCall,
}

impl Caller {
    /// Who has called, and what is asked.
    pub(super) fn new(core: &Arc<Core>, mut call: GenCall) -> (Self, Term) {
        let question = std::mem::replace(&mut call.request, Term::NIL);
        (Self { core: Arc::downgrade(core), call }, question)
    }

    /// Its pid.
    #[must_use]
    pub fn pid(&self) -> &purlin_term::Pid {
        &self.call.from
    }

    /// The right to answer it, for the server: what is answered becomes a term by `serde`. If it is dropped the
    /// caller is not told, and waits as long as it wants to.
    ///
    /// COST: a task of tokio's that waits for the answer.
    #[must_use]
    pub fn reply<T: Serialize + Send + 'static>(self) -> Reply<T> {
        let (reply, answer) = reply();
        let Some(core) = self.core.upgrade() else { return reply };
        let answers = async move {
            let Some(value) = answer.await else { return };
            match purlin_term::to_term(&value) {
                Ok(value) => self.answer(value),
                Err(error) => {
                    warn!(to = %Term::from(self.call.from), "an answer is no term: {error}")
                }
            }
        };
        drop(core.runtime.spawn(answers));
        reply
    }

    /// Answers it.
    pub(super) fn answer(self, value: Term) {
        if let Some(core) = self.core.upgrade() {
            core.reply(self.call, value);
        }
    }

    /// Tells it that it will not be answered, and why: the call exits with that.
    pub(super) fn refuse(self, why: Term) {
        if let Some(core) = self.core.upgrade()
            && let Ok(node) = self.call.from.node.as_str().parse()
            && let Some(connection) = core.connection(&node)
        {
            self.call.refuse(&core, &connection, why);
        }
    }
}
