//! Remote caller of a local server.

use std::sync::{Arc, Weak};

use purlin::Reply;
use purlin::remote::reply;
use purlin_term::Term;
use serde::Serialize;
use tracing::warn;

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::rpc::gen_call::GenCall;

/// A remote process that has called a local server and waits for the answer.
#[derive(Debug)]
pub struct Caller {
    core: Weak<Core>,
    call: GenCall,
}

impl Caller {
    /// Splits a call into the caller and the request.
    pub(super) fn new(core: &Arc<Core>, mut call: GenCall) -> (Self, Term) {
        let question = std::mem::replace(&mut call.request, Term::NIL);
        (Self { core: Arc::downgrade(core), call }, question)
    }

    /// The pid of the caller.
    #[must_use]
    pub fn pid(&self) -> &purlin_term::Pid {
        &self.call.from
    }

    /// Returns the reply handle for the server. The reply becomes a term by `serde`. If the handle is dropped and the
    /// server lives, the call exits with `no_reply`; if the reply cannot be a term, with `{bad_reply, Why}`.
    ///
    /// COST: one tokio task that waits for the reply.
    #[must_use]
    pub fn reply<T: Serialize + Send + 'static>(self) -> Reply<T> {
        let (reply, answer) = reply();
        let Some(core) = self.core.upgrade() else { return reply };
        let answers = async move {
            let Some(value) = answer.await else { return self.unanswered().await };
            match purlin_term::to_term(&value) {
                Ok(value) => self.answer(value),
                Err(error) => {
                    warn!(to = %self.call.from, "an answer is no term: {error}");
                    self.refuse(tagged!("bad_reply", error.to_string().as_str()));
                }
            }
        };
        drop(core.runtime.spawn(answers));
        reply
    }

    /// Sends the answer.
    pub(super) fn answer(self, value: Term) {
        if let Some(core) = self.core.upgrade() {
            core.reply(self.call, value);
        }
    }

    /// Makes the call exit with `why` instead of an answer.
    pub(super) fn refuse(self, why: Term) {
        if let Some((core, connection)) = self.connected() {
            self.call.refuse(&core, &connection, why);
        }
    }

    /// Refuses the call, whose reply was dropped. If the server ends in the same turn, as after a panic, the caller's
    /// monitor gives the reason.
    async fn unanswered(self) {
        let server = self.connected().and_then(|(core, there)| self.call.server(&core, &there));
        if let Some(server) = server
            && server.is_alive_next_turn().await
        {
            self.refuse(Term::atom("no_reply"));
        }
    }

    /// The connection to the caller's node.
    fn connected(&self) -> Option<(Arc<Core>, Arc<Connection>)> {
        let core = self.core.upgrade()?;
        let connection = core.connection(&self.call.from.node.as_str().parse().ok()?)?;
        Some((core, connection))
    }
}
