//! Remote caller of a local server.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use purlin::remote::reply;
use purlin::{ProcessId, Reply};
use purlin_dist_protocol::frame::{Encoded, Payload};
use purlin_term::{Options, Term, ValueError};
use serde::Serialize;
use tracing::warn;

use crate::cluster::connection::Connection;
use crate::cluster::core::Core;
use crate::cluster::rpc::gen_call::GenCall;
use crate::cluster::rpc::into_term::into_term;

/// A remote process that has called a local server and waits for the answer.
///
/// A refused call exits by the caller's monitor of the server. A caller without a monitor, as in a C node with `ei` or in
/// jinterface, and a caller of this node, receive nothing and wait until their timeout, as they do for a BEAM server that
/// does not answer.
#[derive(Debug)]
pub struct Caller {
    core: Weak<Core>,
    /// The connection over which the call came; none for a call from this node.
    over: Weak<Connection>,
    call: GenCall,
}

impl Caller {
    /// The caller of a call that came over the given connection.
    pub(super) fn new(core: &Arc<Core>, over: Option<&Arc<Connection>>, call: GenCall) -> Self {
        let over = over.map_or(Weak::new(), Arc::downgrade);
        Self { core: Arc::downgrade(core), over, call }
    }

    /// The pid of the caller.
    #[must_use]
    pub fn pid(&self) -> &purlin_term::Pid {
        &self.call.from
    }

    /// Returns the reply handle for the server. The reply becomes a term by `serde`, where it is sent. If the handle is
    /// dropped and the server lives, the call exits with `no_reply`; if the reply cannot be a term or its `Serialize`
    /// panics, with `{bad_reply, Why}`.
    ///
    /// COST: the server encodes the reply and adds it to the connection's buffer, without a lock of the cluster and
    /// without a task. A reply of 4 KiB or more that is a byte string (`serde_bytes::ByteBuf`, `bytes::Bytes`,
    /// [`Binary`](purlin_term::Binary)) or a [`Term`] with such binaries is sent from its own memory; inside of another
    /// type, a byte string is copied once. A clone of a `Bytes` or a `Binary` copies nothing. If local processes have sent
    /// the caller messages, its proxies send the reply after them. A dropped reply costs the server a signal. A process
    /// that replies to a node which does not read is suspended at its next await, from
    /// [`Settings::suspend_limit`](crate::link::Settings::suspend_limit) on.
    #[must_use]
    pub fn reply<T: Serialize + Send + 'static>(self) -> Reply<T> {
        reply(move |value: Option<T>| {
            let Some(core) = self.core.upgrade() else { return };
            let Some(value) = value else { return self.unanswered(&core) };
            // WHY caught: the caller would get no answer.
            let error = match catch_unwind(AssertUnwindSafe(|| self.encode(&core, value))) {
                Ok(Ok(())) => return,
                Ok(Err(error)) => error.to_string(),
                Err(_) => "making it one has panicked".to_owned(),
            };
            warn!(to = %Term::from(self.call.from.clone()), "an answer is no term: {error}");
            self.refuse(tagged!("bad_reply", error.as_str()));
        })
    }

    /// Sends the answer, encoded from a value.
    fn encode<T: Serialize + 'static>(&self, core: &Arc<Core>, value: T) -> Result<(), ValueError> {
        let Some(connection) = self.connection(core) else {
            core.reply(self.call.clone(), purlin_term::to_term(&value)?);
            return Ok(());
        };
        let answer = match into_term(value) {
            Ok(term) => Encoded::term(&Term::tuple([self.call.tag.clone(), term]))?,
            Err(value) => {
                let mut bytes = Vec::new();
                Options::default().write(&(&self.call.tag, value), &mut bytes)?;
                bytes.into()
            }
        };
        self.call.send(core, &connection, Payload::Encoded(answer));
        connection.suspend_sender(&core.runtime);
        Ok(())
    }

    /// The connection to the caller's node: as a rule the one over which the call came.
    pub(super) fn connection(&self, core: &Core) -> Option<Arc<Connection>> {
        let node = self.call.from.node.as_str();
        let over = self.over.upgrade();
        let over = over.filter(|over| over.node.as_str() == node && !over.is_closed());
        over.or_else(|| core.connection(&node.parse().ok()?))
    }

    /// Runs `answer`, which answers a request to the process, in a task, after those of the earlier requests of this peer
    /// to it.
    pub(super) fn answer_in_order<F>(
        self,
        core: &Core,
        process: ProcessId,
        answer: impl FnOnce(Self) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        match self.over.upgrade() {
            Some(over) => {
                let answer = Box::new(move || Box::pin(answer(self)) as _);
                over.answer_queues.push(&core.runtime, process, answer);
            }
            None => drop(core.runtime.spawn(answer(self))),
        }
    }

    /// [`Connection::may_answer`] of the connection to the caller's node.
    pub(super) async fn wait(&self, core: &Core) -> bool {
        match self.connection(core) {
            Some(connection) => connection.may_answer().await,
            None => true,
        }
    }

    /// Sends the answer; refuses the call if it cannot be encoded.
    pub(super) fn answer(self, value: Term) {
        let Some(core) = self.core.upgrade() else { return };
        match self.connection(&core) {
            Some(connection) => self.call.answer(&core, &connection, value),
            None => core.reply(self.call, value),
        }
    }

    /// Makes the call exit with `why` instead of an answer, if the caller monitors the server; see [`Caller`]. Returns
    /// whether it does.
    pub(super) fn refuse(self, why: Term) -> bool {
        let Some(core) = self.core.upgrade() else { return false };
        let connection = self.connection(&core);
        connection.is_some_and(|connection| self.call.refuse(&core, &connection, why))
    }

    /// Refuses the call, whose reply was dropped. If the server ends in the same turn, as after a panic, the caller's
    /// monitor gives the reason.
    fn unanswered(self, core: &Arc<Core>) {
        let connection = self.connection(core);
        let server = connection.and_then(|connection| self.call.server(core, &connection));
        if let Some(server) = server {
            server.in_next_turn(move || {
                self.refuse(Term::atom("no_reply"));
            });
        }
    }
}
